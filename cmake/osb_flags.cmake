# SPDX-License-Identifier: Apache-2.0
# Compiler and linker flags of every target, set once.

set(OSB_SANITIZE "" CACHE STRING "Sanitizers to build with, as in -fsanitize=")
option(OSB_FUZZ "Build libFuzzer targets (needs clang)" OFF)
option(OSB_WERROR "Warnings are errors" ON)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

find_program(OSB_CCACHE ccache)
if(OSB_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER "${OSB_CCACHE}")
endif()

add_compile_definitions(_GNU_SOURCE)
add_compile_options(
    -Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wundef
    "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>"
    -Wno-missing-field-initializers
    # Messages are cut at the size of their buffer on purpose; gcc sees it with optimisation only.
    "$<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>"
    -fno-strict-aliasing -fno-common -ffunction-sections -fdata-sections
    "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=." "-fdebug-prefix-map=${CMAKE_BINARY_DIR}=build")
# Warnings of clang only, about strings that are meant so: a literal with an offset, one in two pieces.
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    add_compile_options(-Wno-string-plus-int -Wno-string-concatenation)
endif()
if(OSB_WERROR)
    add_compile_options(-Werror)
endif()
add_link_options(-Wl,--gc-sections -Wl,-z,noexecstack)

if(OSB_SANITIZE)
    add_compile_options(-fsanitize=${OSB_SANITIZE} -fno-omit-frame-pointer -g)
    add_link_options(-fsanitize=${OSB_SANITIZE})
    if(OSB_SANITIZE MATCHES "undefined")
        add_compile_options(-fno-sanitize-recover=undefined)
    endif()
    add_compile_definitions(OSB_SANITIZED=1)
else()
    set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
    add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    add_link_options(-Wl,-z,relro -Wl,-z,now)
endif()

# Coverage for libFuzzer comes from the code under test, not only from the target's own file.
if(OSB_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The commit shown by --version. A build outside a checkout says "unknown".
execute_process(
    COMMAND git rev-parse --short=12 HEAD
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    OUTPUT_VARIABLE OSB_COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
if(NOT OSB_COMMIT)
    set(OSB_COMMIT "unknown")
endif()
