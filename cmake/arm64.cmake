# SPDX-License-Identifier: Apache-2.0
# Cross build of what runs inside sandboxes, for arm64. The libraries come from `scripts/arm64-root`;
# tests run by qemu-user. Use the preset `arm64`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root" ABSOLUTE)
set(CMAKE_C_FLAGS_INIT "-isystem ${root}/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-L${root}/usr/lib/aarch64-linux-gnu -Wl,-rpath-link,${root}/usr/lib/aarch64-linux-gnu")
set(ENV{PKG_CONFIG_LIBDIR} "${root}/usr/lib/aarch64-linux-gnu/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${root}")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L "${root}")
