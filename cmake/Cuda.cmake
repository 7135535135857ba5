# TINYMP_CUDA=AUTO | ON | OFF. Sets TINYMP_HAS_CUDA and enables the language, or says in one line why not.
# AUTO compiles the kernels only on a machine with a GPU: nvcc takes minutes, and elsewhere nothing would call
# them. Then a trial decides: cuda_probe/ is configured and compiled apart. So an nvcc that is too old,
# rejects the host compiler or lacks its libraries costs a line and does not fail the build.
set(TINYMP_CUDA AUTO CACHE STRING "CUDA kernels: AUTO (where there is an NVIDIA GPU), ON (an error when there is no \
working nvcc), OFF")
set_property(CACHE TINYMP_CUDA PROPERTY STRINGS AUTO ON OFF)
string(TOUPPER "${TINYMP_CUDA}" tinymp_cuda)
if(NOT tinymp_cuda MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TINYMP_CUDA=${TINYMP_CUDA}: choose AUTO, ON or OFF")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 75-virtual 80-real 90-real 90-virtual)  # needs no GPU here, runs on all since Turing
endif()
# -std=c++20 is an option here because CMake 3.25 does not know that nvcc has C++20. -fmad=false, because a
# fused multiply-add that the source does not ask for would give other bits than the CPU. -lineinfo, so that
# compute-sanitizer names lines.
set(TINYMP_CUDA_FLAGS -std=c++20 -lineinfo -fmad=false --expt-relaxed-constexpr -Xcompiler=-ffp-contract=off)

# tinymp_try_cuda(NVCC OUT): sets OUT to "" when nvcc compiles and links the probe, else to the reason.
function(tinymp_try_cuda nvcc out)
  set(folder "${PROJECT_BINARY_DIR}/cuda_probe")
  file(REMOVE_RECURSE "${folder}")
  set(options "")
  foreach(name CMAKE_MAKE_PROGRAM CMAKE_CXX_COMPILER CMAKE_CUDA_HOST_COMPILER CMAKE_CUDA_ARCHITECTURES
               CMAKE_TOOLCHAIN_FILE TINYMP_CUDA_FLAGS)
    if(DEFINED ${name})
      list(JOIN ${name} "\\;" value)
      list(APPEND options "-D${name}=${value}")
    endif()
  endforeach()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cuda_probe" -B "${folder}" -G ${CMAKE_GENERATOR}
            "-DCMAKE_CUDA_COMPILER=${nvcc}" ${options}
    OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed TIMEOUT 300)
  if(NOT failed)
    execute_process(COMMAND ${CMAKE_COMMAND} --build "${folder}" --verbose
                    OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed TIMEOUT 300)
  endif()
  if(NOT failed)
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  if(failed MATCHES "timeout")  # nvcc hung, or the machine was busy: the next run tries again
    unset(TINYMP_CUDA_TRIED CACHE)
    set(${out} "it took longer than 5 minutes" PARENT_SCOPE)
    return()
  endif()
  # CMake does not show the messages of nvcc from its search for a compiler, so nvcc runs once more.
  execute_process(COMMAND "${nvcc}" ${TINYMP_CUDA_FLAGS} -c "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cuda_probe/probe.cu"
                          -o "${folder}/probe.o"
                  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed TIMEOUT 300)
  if(NOT failed)
    set(said "${log}")
  endif()
  set(reason "it does not answer as nvcc does")
  if(said MATCHES "(nvcc fatal *:[^\n]*|#error[^\n]*|[^\n]*cannot find -l[^\n]*|error: [^\n]*|Could NOT find CUDAToolkit)")
    string(REGEX REPLACE "[ \t\r]+" " " reason "${CMAKE_MATCH_1}")
    string(STRIP "${reason}" reason)
  endif()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

set(TINYMP_HAS_CUDA FALSE)
set(tinymp_why "TINYMP_CUDA=OFF")
if(NOT DEFINED TINYMP_GPU)  # a driver's device nodes (dxg: WSL, nvmap: Jetson), or its version
  set(tinymp_gpu FALSE)
  foreach(node /dev/nvidiactl /dev/nvidia0 /dev/dxg /dev/nvmap /proc/driver/nvidia/version)
    if(EXISTS ${node})
      set(tinymp_gpu TRUE)
    endif()
  endforeach()
else()  # set by the caller
  set(tinymp_gpu ${TINYMP_GPU})
endif()
if(tinymp_cuda STREQUAL "AUTO" AND NOT tinymp_gpu)
  set(tinymp_why "there is no NVIDIA GPU on this machine; TINYMP_CUDA=ON compiles its kernels all the same")
elseif(NOT tinymp_cuda STREQUAL "OFF")
  set(tinymp_nvcc "${CMAKE_CUDA_COMPILER}")
  if(NOT tinymp_nvcc)
    unset(tinymp_nvcc)
    find_program(tinymp_nvcc nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
    if(DEFINED ENV{CUDACXX} AND EXISTS "$ENV{CUDACXX}")
      set(tinymp_nvcc "$ENV{CUDACXX}")
    endif()
  endif()
  if(NOT EXISTS "${tinymp_nvcc}")
    set(tinymp_why "no nvcc found")
  else()
    file(TIMESTAMP "${tinymp_nvcc}" tinymp_key)
    string(APPEND tinymp_key " ${tinymp_nvcc} ${CMAKE_CUDA_HOST_COMPILER} ${CMAKE_CUDA_ARCHITECTURES}")
    if(NOT TINYMP_CUDA_TRIED STREQUAL tinymp_key)  # the trial takes seconds, so it runs once for each key
      set(TINYMP_CUDA_TRIED "${tinymp_key}" CACHE INTERNAL "the nvcc that was tried")
      tinymp_try_cuda("${tinymp_nvcc}" tinymp_why)
      set(TINYMP_CUDA_WHY "${tinymp_why}" CACHE INTERNAL "why it does not work")
    endif()
    execute_process(COMMAND "${tinymp_nvcc}" --version OUTPUT_VARIABLE tinymp_version ERROR_QUIET RESULT_VARIABLE _
                    TIMEOUT 20)
    if(tinymp_version MATCHES "release ([0-9]+[.][0-9]+)")
      set(tinymp_version "nvcc ${CMAKE_MATCH_1}")
    else()
      set(tinymp_version "${tinymp_nvcc}")
    endif()
    if(TINYMP_CUDA_WHY STREQUAL "")
      set(TINYMP_HAS_CUDA TRUE)
      set(CMAKE_CUDA_COMPILER "${tinymp_nvcc}" CACHE FILEPATH "CUDA compiler")
    else()
      set(tinymp_why "${tinymp_version} cannot compile C++20 kernels: ${TINYMP_CUDA_WHY}")
    endif()
  endif()
endif()

if(TINYMP_HAS_CUDA)
  enable_language(CUDA)
  include(${CMAKE_CURRENT_LIST_DIR}/cuda_probe/NoStandard.cmake)
  find_package(CUDAToolkit REQUIRED)
  message(STATUS "CUDA: on (${tinymp_version}, architectures ${CMAKE_CUDA_ARCHITECTURES})")
elseif(tinymp_cuda STREQUAL "ON")
  message(FATAL_ERROR "TINYMP_CUDA=ON, but ${tinymp_why}.
Install the CUDA toolkit, 12.0 or newer, and name its compiler with -DCMAKE_CUDA_COMPILER=/path/to/nvcc, or configure \
with -DTINYMP_CUDA=OFF. The trial's log: ${PROJECT_BINARY_DIR}/cuda_probe/CMakeFiles")
else()
  message(STATUS "CUDA: off (${tinymp_why})")
endif()
