# Warnings are a target of their own, so that every library of ours asks for them and no dependency does.
add_library(evo_warnings INTERFACE)
target_compile_options(evo_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wno-missing-field-initializers
  -Wno-restrict)  # g++ 12 warns of overlapping copies inside its own std::string (GCC bug 105651)

# Every source of ours gets the headers below precompiled, since parsing them is most of what compiling costs. A source still includes what
# it uses: tests/architecture compiles each header without them, and `scripts/lint tidy` parses every source without them.
option(EVO_PRECOMPILE_HEADERS "Precompile the headers of the standard library, fmt, JSON and GoogleTest" ON)
set(evo_common_headers
  <algorithm> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional> <set> <string> <string_view>
  <thread> <utility> <variant> <vector> <boost/describe.hpp> <boost/mp11.hpp> <fmt/format.h> <nlohmann/json.hpp>)

# Several sources of a library or a test program are compiled as one, which halves the processor time of a build from nothing. So names in
# the anonymous namespaces of one target must differ (`scripts/lint includes` compiles all sources of a library as one, since a new source
# moves the others between the files); `cmake -DEVO_UNITY_BUILD=OFF` compiles each source alone.
option(EVO_UNITY_BUILD "Compile several sources of a target as one" ON)
set(CMAKE_UNITY_BUILD ${EVO_UNITY_BUILD})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 18 CACHE STRING "Sources of a library that are compiled as one at most; 0: all")

# g++ collects garbage from 128 MiB on, which is a tenth to a quarter of what compiling costs. A source takes 1.2 GiB at most so.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

# What no program calls is left out of it.
add_compile_options($<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)
add_link_options($<$<CONFIG:Release>:-Wl,--gc-sections>)

# A hundred and fifty programs are linked; gold, which comes with Debian's binutils, takes half as long as the usual linker.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold EVO_HAS_GOLD)
if(EVO_HAS_GOLD)
  # Functions with the same code are kept once, unless their addresses are compared.
  add_link_options($<$<CONFIG:Release>:-fuse-ld=gold> $<$<CONFIG:Release>:-Wl,--icf=safe>)
endif()

# evo_precompile(TARGET DONOR HEADERS...): TARGET uses the precompiled headers of DONOR, a target of ours with the same options.
function(evo_precompile target donor)
  if(NOT EVO_PRECOMPILE_HEADERS)
    return()
  endif()
  if(target STREQUAL donor)
    target_precompile_headers(${donor} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${donor})
  endif()
  target_link_libraries(${target} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  # g++ 12 takes what is precompiled for ours and warns of its own std::string (GCC bug 105651); without precompiled headers it does not.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
  # ccache needs the option to see through precompiled headers.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# Where an installed copy has the libraries that come with it, and how the programs in bin/ find them.
set(EVO_LIBRARY_FOLDER lib/evo)
set(CMAKE_INSTALL_RPATH $ORIGIN/../${EVO_LIBRARY_FOLDER})

# evo_library(NAME [LIGHT] SOURCES ... DEPENDS ... [PRECOMPILE HEADERS...] [PRECOMPILED_BY TARGET]): one library a folder, with the alias
# evo::NAME. Includes are written from the root. LIGHT: nothing waits for its code for long, so that -O1 does, which compiles a quarter quicker.
# PRECOMPILE: these headers are precompiled as well; PRECOMPILED_BY: such a library whose headers to use.
function(evo_library name)
  cmake_parse_arguments(ARG "LIGHT" "PRECOMPILED_BY" "SOURCES;DEPENDS;PRIVATE_DEPENDS;PRECOMPILE" ${ARGN})
  add_library(evo_${name} STATIC ${ARG_SOURCES})
  add_library(evo::${name} ALIAS evo_${name})
  target_include_directories(evo_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(evo_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} evo_warnings)
  if(ARG_LIGHT)
    target_compile_options(evo_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  set(donor evo_core)
  if(ARG_PRECOMPILE)
    set(donor evo_${name})
  elseif(ARG_PRECOMPILED_BY)
    set(donor ${ARG_PRECOMPILED_BY})
  endif()
  evo_precompile(evo_${name} ${donor} ${evo_common_headers} ${ARG_PRECOMPILE})
endfunction()

# evo_test(NAME LABEL label [TOGETHER] [WAITS] SOURCES ... DEPENDS ...): one GoogleTest program, its tests known to CTest under the label. CTest
# runs each test in a process of its own, or with TOGETHER all of them in one: for tests that share much setting up. Tests with the same LOCK
# never run at the same time. WAITS: they wait for deadlines or processes half of their time or more, so that others run meanwhile. COST: the
# seconds of the longest of them, where that is many: CTest starts with the longest, so that none is left over alone at the end.
include(GoogleTest)
# scripts/test gives CTest four slots. A test takes two of them unless it waits most of its time: two that use a processor run at once, or four
# that wait.
set(evo_works PROCESSORS 2)
add_custom_target(gpu_tests)
add_custom_target(unit_tests)
function(evo_test name)
  cmake_parse_arguments(ARG "TOGETHER;WAITS" "LABEL;TIMEOUT;LOCK;COST" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest_main evo_warnings)
  # Optimising tests costs more than running them slowly.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  evo_precompile(${name} core_test ${evo_common_headers} <gmock/gmock.h> <gtest/gtest.h> "${PROJECT_SOURCE_DIR}/tests/json_instance.h")
  target_link_libraries(${name} PRIVATE evo_json_instance)
  # Fewer as one than of a library: nothing shows that names of more sources of a test program differ.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD_BATCH_SIZE 8)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(ARG_LABEL STREQUAL "unit")
    add_dependencies(unit_tests ${name})
  endif()
  # What needs a GPU is carried to one: scripts/package --with-tests.
  if(ARG_LABEL STREQUAL "gpu")
    add_dependencies(gpu_tests ${name})
    install(TARGETS ${name} RUNTIME DESTINATION tests COMPONENT gpu_tests EXCLUDE_FROM_ALL)
  endif()
  set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(NOT ARG_WAITS)
    list(APPEND properties ${evo_works})
  endif()
  if(ARG_COST)
    list(APPEND properties COST ${ARG_COST})
  endif()
  if(ARG_LOCK)
    list(APPEND properties RESOURCE_LOCK ${ARG_LOCK})
  endif()
  if(ARG_TOGETHER)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

# evo_share(FOLDER NAME): what is read at run time stands at share/evo/NAME beside bin/, in the build tree (a link) and installed.
function(evo_share folder name)
  get_filename_component(source ${folder} ABSOLUTE)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/evo)
  file(CREATE_LINK ${source} ${CMAKE_BINARY_DIR}/share/evo/${name} SYMBOLIC)
  install(DIRECTORY ${source}/ DESTINATION share/evo/${name} ${ARGN})
endfunction()
