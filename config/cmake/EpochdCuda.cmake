# CUDA, optional. EPOCHD_CUDA decides: AUTO uses nvcc where it is found, ON requires it, OFF leaves
# it out. After this file EPOCHD_WITH_CUDA says whether .cu files are compiled; where it is false,
# folders of cuda/ build the file that answers "not built with CUDA" in their place, so that
# everything else links the same way.

set(EPOCHD_CUDA AUTO CACHE STRING "Compile the CUDA backend: AUTO, ON or OFF")
set_property(CACHE EPOCHD_CUDA PROPERTY STRINGS AUTO ON OFF)
set(EPOCHD_WITH_CUDA OFF)

if(NOT EPOCHD_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(EPOCHD_NVCC NAMES nvcc HINTS /usr/local/cuda/bin)
    if(EPOCHD_NVCC)
      set(CMAKE_CUDA_COMPILER ${EPOCHD_NVCC})
    endif()
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures to compile for")
  endif()
  if(DEFINED CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
    check_language(CUDA)
  endif()
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(EPOCHD_WITH_CUDA ON)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    # Debian 12's CMake 3.25.1 does not know this flag of nvcc's.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    if(CCACHE_PROGRAM)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
    endif()
    target_compile_options(epochd_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
      $<$<AND:$<BOOL:${EPOCHD_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings>)
    message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}, "
      "architectures ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(EPOCHD_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA: nvcc was not found; building without the CUDA backend")
  else()
    message(FATAL_ERROR
      "EPOCHD_CUDA=ON, but no CUDA compiler was found. Install the CUDA toolkit (13.0), put nvcc "
      "on PATH or pass -DCMAKE_CUDA_COMPILER=/path/to/nvcc. Without CUDA: -DEPOCHD_CUDA=OFF.")
  endif()
else()
  message(STATUS "CUDA: off by EPOCHD_CUDA=OFF")
endif()
