# Build-wide settings and the three ways targets are declared here:
#   epochd_library(NAME SOURCES ... DEPS ...)   a static library, includes rooted at the repository
#   epochd_executable(NAME SOURCES ... DEPS ...)
#   epochd_test(NAME SOURCES ... DEPS ... [LABELS ...])   a GoogleTest binary, cases found by ctest
# and one for code compiled once per instruction set:
#   epochd_simd_sources(TARGET FILE_avx2.cpp FILE_avx512.cpp ...)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

option(EPOCHD_TESTS "Build the tests" ON)
option(EPOCHD_WERROR "Treat warnings as errors" ON)
set(EPOCHD_SANITIZE "" CACHE STRING "Sanitizers for every target, e.g. address,undefined or thread")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

find_package(Threads REQUIRED)

add_library(epochd_flags INTERFACE)
target_include_directories(epochd_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
# g++ 12 reports a false -Wrestrict for "literal" + std::string (GCC bug 105651).
target_compile_options(epochd_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  $<$<AND:$<BOOL:${EPOCHD_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
if(EPOCHD_SANITIZE)
  target_compile_options(epochd_flags INTERFACE
    -fsanitize=${EPOCHD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(epochd_flags INTERFACE -fsanitize=${EPOCHD_SANITIZE})
endif()
target_link_libraries(epochd_flags INTERFACE Threads::Threads)

function(epochd_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(${NAME} PUBLIC epochd_flags ${ARG_DEPS})
endfunction()

function(epochd_executable NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE epochd_flags ${ARG_DEPS})
endfunction()

function(epochd_test NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE epochd_flags ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${NAME} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 1200)
endfunction()

# Files that include intrinsics for one instruction set. They may include only headers whose inline
# functions are templates over their own pack type: an inline function shared with other files could
# be kept by the linker in its AVX-512 form and run on a machine without it. g++ 12's AVX-512 header
# passes deliberately undefined registers to unmasked builtins and then warns about it.
set(EPOCHD_AVX512_QUIET "-Wno-uninitialized;-Wno-maybe-uninitialized")
function(epochd_simd_sources TARGET)
  foreach(FILE ${ARGN})
    if(FILE MATCHES "_avx512\\.cpp$")
      set_source_files_properties(${FILE} PROPERTIES COMPILE_OPTIONS
        "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mavx2;-mbmi2;-mfma;${EPOCHD_AVX512_QUIET}")
    elseif(FILE MATCHES "_avx2\\.cpp$")
      set_source_files_properties(${FILE} PROPERTIES COMPILE_OPTIONS "-mavx2;-mbmi2;-mfma")
    endif()
  endforeach()
  target_sources(${TARGET} PRIVATE ${ARGN})
endfunction()

if(EPOCHD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
