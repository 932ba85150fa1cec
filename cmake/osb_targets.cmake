# SPDX-License-Identifier: Apache-2.0
# The few target shapes of this tree.
#
#   osb_library(NAME SOURCES … [DEPS …] [LIBS …])   lib/NAME as static library osb_NAME
#   osb_program(NAME SOURCES … [DEPS …] [LIBS …])   build/<preset>/bin/NAME
#   osb_test(NAME SOURCES … [DEPS …] [LIBS …])      cmocka test, run by ctest, label "unit"
#   osb_fuzz(NAME SOURCE f.c [DEPS …] [CORPUS dir]) libFuzzer target; elsewhere a corpus replay test

set(OSB_TEST_TIMEOUT 120 CACHE STRING "Seconds after which a unit test counts as hung")

set_property(GLOBAL PROPERTY OSB_HEADERS "")

# All programs, and no test: what a user needs. It takes only the packages of the purpose `build`.
add_custom_target(programs)

function(osb_library name)
    cmake_parse_arguments(A "" "" "SOURCES;DEPS;LIBS;INCLUDES" ${ARGN})
    if(NOT A_SOURCES) # headers only, until its first source lands
        file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/empty.c" "extern int osb_${name}_is_empty;\n")
        set(A_SOURCES "${CMAKE_CURRENT_BINARY_DIR}/empty.c")
    endif()
    add_library(osb_${name} STATIC ${A_SOURCES})
    target_include_directories(osb_${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include")
    if(A_INCLUDES)
        target_include_directories(osb_${name} PRIVATE ${A_INCLUDES})
    endif()
    foreach(dep ${A_DEPS})
        target_link_libraries(osb_${name} PUBLIC osb_${dep})
    endforeach()
    target_link_libraries(osb_${name} PUBLIC ${A_LIBS})
    file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/include/osb/*.h")
    foreach(header ${headers})
        set_property(GLOBAL APPEND PROPERTY OSB_HEADERS "${name}|${header}")
    endforeach()
endfunction()

function(osb_program name)
    cmake_parse_arguments(A "" "" "SOURCES;DEPS;LIBS;INCLUDES" ${ARGN})
    add_executable(${name} ${A_SOURCES})
    foreach(dep ${A_DEPS})
        target_link_libraries(${name} PRIVATE osb_${dep})
    endforeach()
    target_link_libraries(${name} PRIVATE ${A_LIBS})
    if(A_INCLUDES)
        target_include_directories(${name} PRIVATE ${A_INCLUDES})
    endif()
    target_compile_definitions(
        ${name} PRIVATE OSB_PROGRAM="${name}" OSB_VERSION="${PROJECT_VERSION}"
                        OSB_COMMIT="${OSB_COMMIT}")
    add_dependencies(programs ${name})
endfunction()

function(osb_test name)
    cmake_parse_arguments(A "" "" "SOURCES;DEPS;LIBS;INCLUDES" ${ARGN})
    add_executable(${name} ${A_SOURCES})
    foreach(dep ${A_DEPS})
        target_link_libraries(${name} PRIVATE osb_${dep})
    endforeach()
    target_link_libraries(${name} PRIVATE ${A_LIBS} cmocka)
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src" ${A_INCLUDES})
    target_compile_definitions(
        ${name} PRIVATE OSB_TESTDATA="${CMAKE_CURRENT_SOURCE_DIR}/testdata")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    if(NOT OSB_FUZZ)
        add_test(NAME ${name} COMMAND ${name})
        set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${OSB_TEST_TIMEOUT})
    endif()
endfunction()

function(osb_fuzz name)
    cmake_parse_arguments(A "" "SOURCE;CORPUS" "DEPS;LIBS;INCLUDES" ${ARGN})
    if(OSB_FUZZ)
        add_executable(${name} ${A_SOURCE})
        target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        # Tells the fuzz suite where to begin.
        file(WRITE "${CMAKE_BINARY_DIR}/fuzz/${name}.corpus"
             "${CMAKE_CURRENT_SOURCE_DIR}/${A_CORPUS}")
    else()
        add_executable(${name} ${A_SOURCE} "${CMAKE_SOURCE_DIR}/cmake/fuzz_replay.c")
    endif()
    foreach(dep ${A_DEPS})
        target_link_libraries(${name} PRIVATE osb_${dep})
    endforeach()
    target_link_libraries(${name} PRIVATE ${A_LIBS})
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src" ${A_INCLUDES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
    if(NOT OSB_FUZZ)
        add_test(NAME ${name} COMMAND ${name} "${CMAKE_CURRENT_SOURCE_DIR}/${A_CORPUS}")
        set_tests_properties(${name} PROPERTIES LABELS fuzz-replay TIMEOUT ${OSB_TEST_TIMEOUT})
    endif()
endfunction()

# Every public header compiles alone: one generated translation unit a header.
function(osb_header_checks)
    get_property(entries GLOBAL PROPERTY OSB_HEADERS)
    foreach(entry ${entries})
        string(REPLACE "|" ";" parts "${entry}")
        list(GET parts 0 lib)
        list(GET parts 1 header)
        get_filename_component(stem "${header}" NAME_WE)
        set(unit "${CMAKE_BINARY_DIR}/header-checks/${lib}_${stem}.c")
        file(WRITE "${unit}.new" "#include <osb/${stem}.h>\n#include <osb/${stem}.h>\n")
        configure_file("${unit}.new" "${unit}" COPYONLY)
        add_library(header_${lib}_${stem} OBJECT "${unit}")
        target_link_libraries(header_${lib}_${stem} PRIVATE osb_${lib})
    endforeach()
endfunction()
