# Guest programs, built from C or freestanding C++ on the SDK in epoch/guest:
#   epochd_guest(NAME [APART] SOURCES a.c b.cpp ...)
# makes, in ${EPOCHD_GUEST_DIR} (the build folder's guests/):
#   NAME.elf        the proved program: RV64IM, no compressed instructions, static ET_EXEC
#   NAME.qemu.elf   the same sources as a Linux program for qemu-riscv64
#   NAME.twin       the same sources compiled for the host, an oracle for the emitted words
# and the target guest_NAME, which epochd_guests (part of `all`) builds unless it is APART. A test
# that runs guests depends on them with add_dependencies and finds them through EPOCHD_GUEST_DIR.

option(EPOCHD_GUESTS "Build the guest programs (needs a bare-metal RISC-V compiler)" ON)
set(EPOCHD_GUEST_DIR ${CMAKE_BINARY_DIR}/guests)
set(EPOCHD_GUEST_SDK_DIR ${CMAKE_SOURCE_DIR}/epoch/guest)

if(EPOCHD_GUESTS)
  find_program(EPOCHD_GUEST_CC NAMES riscv64-unknown-elf-gcc
    DOC "Bare-metal RISC-V C compiler for guest programs")
  if(NOT EPOCHD_GUEST_CC)
    message(FATAL_ERROR
      "riscv64-unknown-elf-gcc was not found; guest programs cannot be built.\n"
      "  Debian: apt-get install gcc-riscv64-unknown-elf\n"
      "  elsewhere: put the compiler on PATH or pass -DEPOCHD_GUEST_CC=/path/to/the/compiler\n"
      "  without guest programs (their tests are left out): -DEPOCHD_GUESTS=OFF")
  endif()
endif()

set(EPOCHD_GUEST_FLAGS
  -march=rv64im -mabi=lp64 -mcmodel=medany -mstrict-align -O2 -ffreestanding
  -fno-common -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -Wall -Wextra -Werror -I${EPOCHD_GUEST_SDK_DIR})

# C++ guests have no C++ library. The few headers that need no library code (<array>, …) are
# the host compiler's own, told that there is no operating system.
set(EPOCHD_GUEST_FREESTANDING_DIR ${EPOCHD_GUEST_DIR}/freestanding)
set(EPOCHD_GUEST_CXX_FLAGS
  -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -D_GLIBCXX_HOSTED=0
  -I${CMAKE_SOURCE_DIR} -isystem ${EPOCHD_GUEST_FREESTANDING_DIR})
foreach(DIR ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  if(DIR MATCHES "c\\+\\+")
    list(APPEND EPOCHD_GUEST_CXX_FLAGS -isystem ${DIR})
  endif()
endforeach()
if(EPOCHD_GUESTS)
  string(REGEX REPLACE "gcc$" "g++" EPOCHD_GUEST_CXX ${EPOCHD_GUEST_CC})
  foreach(HEADER os_defines.h cpu_defines.h)
    file(WRITE ${EPOCHD_GUEST_FREESTANDING_DIR}/bits/${HEADER} "")
  endforeach()
endif()

# Compiles SOURCES with FLAGS into OUT_DIR, and returns the objects in OBJECTS.
function(epochd_guest_objects OBJECTS OUT_DIR FLAGS)
  set(RESULT "")
  file(MAKE_DIRECTORY ${OUT_DIR})
  foreach(SOURCE ${ARGN})
    file(RELATIVE_PATH STEM ${CMAKE_SOURCE_DIR} ${SOURCE})
    string(REPLACE "/" "_" STEM ${STEM})
    set(OBJECT ${OUT_DIR}/${STEM}.o)
    if(STEM MATCHES "\\.cpp$")
      set(COMPILER ${EPOCHD_GUEST_CXX})
      set(EXTRA ${EPOCHD_GUEST_CXX_FLAGS})
    else()
      set(COMPILER ${EPOCHD_GUEST_CC})
      set(EXTRA -std=gnu11)
    endif()
    if(STEM STREQUAL "epoch_guest_memory.c")
      list(APPEND EXTRA -fno-tree-loop-distribute-patterns)
    endif()
    add_custom_command(OUTPUT ${OBJECT}
      COMMAND ${COMPILER} ${EPOCHD_GUEST_FLAGS} ${FLAGS} ${EXTRA}
              -MD -MF ${OBJECT}.d -MT ${OBJECT} -c ${SOURCE} -o ${OBJECT}
      DEPENDS ${SOURCE} DEPFILE ${OBJECT}.d COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND RESULT ${OBJECT})
  endforeach()
  set(${OBJECTS} ${RESULT} PARENT_SCOPE)
endfunction()

function(epochd_guest_link OUTPUT)
  add_custom_command(OUTPUT ${OUTPUT}
    COMMAND ${EPOCHD_GUEST_CC} ${EPOCHD_GUEST_FLAGS} -static -nostdlib -nostartfiles
            -T ${EPOCHD_GUEST_SDK_DIR}/guest.ld -Wl,--gc-sections -Wl,--build-id=none
            -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack ${ARGN} -lgcc -o ${OUTPUT}
    DEPENDS ${ARGN} ${EPOCHD_GUEST_SDK_DIR}/guest.ld COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

if(EPOCHD_GUESTS)
  add_custom_target(epochd_guests ALL)
  set(SDK ${EPOCHD_GUEST_SDK_DIR})
  epochd_guest_objects(EPOCHD_SDK_OBJECTS ${EPOCHD_GUEST_DIR}/sdk ""
    ${SDK}/crt0.S ${SDK}/sdk.c ${SDK}/memory.c)
  epochd_guest_objects(EPOCHD_SDK_QEMU_OBJECTS ${EPOCHD_GUEST_DIR}/sdk-qemu -DEPOCHD_QEMU
    ${SDK}/crt0_qemu.S ${SDK}/sdk.c ${SDK}/memory.c ${SDK}/qemu.c)
  # One owner of the SDK's objects: guests depend on it, so that two never build one file at once.
  add_custom_target(epochd_guest_sdk DEPENDS ${EPOCHD_SDK_OBJECTS} ${EPOCHD_SDK_QEMU_OBJECTS})
endif()

function(epochd_guest NAME)
  if(NOT EPOCHD_GUESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "APART" "" "SOURCES" ${ARGN})
  set(SOURCES "")
  foreach(SOURCE ${ARG_SOURCES})
    get_filename_component(SOURCE ${SOURCE} ABSOLUTE)
    list(APPEND SOURCES ${SOURCE})
  endforeach()
  set(OUT ${EPOCHD_GUEST_DIR})
  epochd_guest_objects(OBJECTS ${OUT}/${NAME}.objects "" ${SOURCES})
  epochd_guest_objects(QEMU_OBJECTS ${OUT}/${NAME}.qemu-objects -DEPOCHD_QEMU ${SOURCES})
  epochd_guest_link(${OUT}/${NAME}.elf ${EPOCHD_SDK_OBJECTS} ${OBJECTS})
  epochd_guest_link(${OUT}/${NAME}.qemu.elf ${EPOCHD_SDK_QEMU_OBJECTS} ${QEMU_OBJECTS})
  add_custom_target(guest_${NAME} DEPENDS ${OUT}/${NAME}.elf ${OUT}/${NAME}.qemu.elf)
  add_dependencies(guest_${NAME} epochd_guest_sdk)

  add_executable(twin_${NAME} ${SOURCES}
    ${EPOCHD_GUEST_SDK_DIR}/sdk.c ${EPOCHD_GUEST_SDK_DIR}/twin.c)
  target_compile_definitions(twin_${NAME} PRIVATE EPOCHD_TWIN)
  target_include_directories(twin_${NAME} PRIVATE ${EPOCHD_GUEST_SDK_DIR} ${CMAKE_SOURCE_DIR})
  target_compile_options(twin_${NAME} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:-std=gnu11> -O2 -fwrapv -Wall -Wextra)
  set_source_files_properties(${SOURCES} PROPERTIES COMPILE_DEFINITIONS "main=epochd_guest_main")
  set_target_properties(twin_${NAME} PROPERTIES
    OUTPUT_NAME ${NAME}.twin RUNTIME_OUTPUT_DIRECTORY ${OUT})
  add_dependencies(guest_${NAME} twin_${NAME})
  if(NOT ARG_APART)
    add_dependencies(epochd_guests guest_${NAME})
  endif()
endfunction()
