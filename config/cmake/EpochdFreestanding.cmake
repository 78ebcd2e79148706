# The freestanding check: the verifier, and all it stands on, compiles for bare rv64im and needs
# nothing but memcpy, memmove, memset, memcmp and the compiler's own arithmetic. Included by the
# build it declares the target epochd_freestanding (part of `all`) and the ctest
# freestanding.undefined_symbols; run as a script (cmake -DNM=... -DOBJECT=... -P) it is that test.
#
# The sources are those of the libraries below, so that a file added to one is checked without
# being listed here. The C++ headers are the host's: a stub features.h stands in for the C library
# that the bare toolchain does not have, and only headers without a C library behind them compile.

if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${NM} --undefined-only ${OBJECT}
    OUTPUT_VARIABLE UNDEFINED COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^ \n]+\n" NAMES "${UNDEFINED}")
  set(FOREIGN "")
  foreach(NAME ${NAMES})
    string(STRIP "${NAME}" NAME)
    if(NOT NAME MATCHES "^(memcpy|memmove|memset|memcmp|__[a-z]+(si|di|ti)[0-9])$")
      list(APPEND FOREIGN ${NAME})
    endif()
  endforeach()
  execute_process(COMMAND ${NM} ${OBJECT} OUTPUT_VARIABLE ALL_SYMBOLS COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "_GLOBAL__sub_I[^\n]*" INITIALISERS "${ALL_SYMBOLS}")
  if(NOT ALL_SYMBOLS MATCHES "verify_run" OR NOT ALL_SYMBOLS MATCHES "verify_argument")
    message(FATAL_ERROR "${OBJECT} does not hold the verifier: the check has lost its subject")
  endif()
  if(FOREIGN)
    message(FATAL_ERROR
      "the freestanding verifier needs ${FOREIGN}: remove the call that brings it in")
  endif()
  if(INITIALISERS)
    message(FATAL_ERROR
      "the freestanding verifier has static initialisers (${INITIALISERS}): make them constexpr")
  endif()
  return()
endif()

find_program(EPOCHD_GUEST_CXX NAMES riscv64-unknown-elf-g++ DOC "Bare-metal RISC-V C++ compiler")
find_program(EPOCHD_GUEST_NM NAMES riscv64-unknown-elf-nm DOC "Its nm")
if(NOT EPOCHD_GUESTS OR NOT EPOCHD_GUEST_CXX OR NOT EPOCHD_GUEST_NM)
  message(STATUS "Freestanding check: left out (no riscv64-unknown-elf-g++, or EPOCHD_GUESTS=OFF)")
  return()
endif()

set(EPOCHD_FREESTANDING_LIBRARIES
  epochd_blake3 epochd_merkle_verify epochd_verify epoch_airs epoch_verify)
set(FREESTANDING_DIR ${CMAKE_BINARY_DIR}/freestanding)
file(WRITE ${FREESTANDING_DIR}/stub/features.h "#define __GLIBC_PREREQ(major, minor) 0\n")

set(FREESTANDING_FLAGS
  -march=rv64im -mabi=lp64 -mcmodel=medany -O2 -std=c++20 -ffreestanding -fno-exceptions -fno-rtti
  -fno-asynchronous-unwind-tables -Wall -Wextra -Werror -I${CMAKE_SOURCE_DIR}
  -nostdinc++ -isystem ${FREESTANDING_DIR}/stub)
foreach(DIR ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  if(DIR MATCHES "/c\\+\\+/" AND NOT DIR MATCHES "/backward$")
    list(APPEND FREESTANDING_FLAGS -isystem ${DIR})
  endif()
endforeach()

set(FREESTANDING_OBJECTS "")
foreach(LIBRARY ${EPOCHD_FREESTANDING_LIBRARIES})
  get_target_property(SOURCES ${LIBRARY} SOURCES)
  get_target_property(DIR ${LIBRARY} SOURCE_DIR)
  foreach(SOURCE ${SOURCES})
    get_filename_component(STEM ${SOURCE} NAME)
    set(OBJECT ${FREESTANDING_DIR}/${LIBRARY}_${STEM}.o)
    add_custom_command(OUTPUT ${OBJECT}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${EPOCHD_GUEST_CXX} ${FREESTANDING_FLAGS}
              -MD -MF ${OBJECT}.d -MT ${OBJECT} -c ${DIR}/${SOURCE} -o ${OBJECT}
      DEPENDS ${DIR}/${SOURCE} DEPFILE ${OBJECT}.d VERBATIM)
    list(APPEND FREESTANDING_OBJECTS ${OBJECT})
  endforeach()
endforeach()
add_custom_command(OUTPUT ${FREESTANDING_DIR}/verifier.o
  COMMAND ${EPOCHD_GUEST_CXX} -march=rv64im -mabi=lp64 -nostdlib -r ${FREESTANDING_OBJECTS}
          -o ${FREESTANDING_DIR}/verifier.o
  DEPENDS ${FREESTANDING_OBJECTS} VERBATIM)
add_custom_target(epochd_freestanding ALL DEPENDS ${FREESTANDING_DIR}/verifier.o)

add_test(NAME freestanding.undefined_symbols
  COMMAND ${CMAKE_COMMAND} -DNM=${EPOCHD_GUEST_NM} -DOBJECT=${FREESTANDING_DIR}/verifier.o
          -P ${CMAKE_CURRENT_LIST_FILE})
set_tests_properties(freestanding.undefined_symbols PROPERTIES LABELS unit)
