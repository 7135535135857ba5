# cmake -DSOURCE=tree -DWORK=folder -DCASE=name -DGENERATOR=name [-DCXX=compiler] -P run.cmake
# Configures tinymp with an nvcc that fails in some way, on a machine that is said to have a GPU. AUTO must go on without
# CUDA and say so in one line; ON must stop and say why. Without a GPU, AUTO calls no nvcc.
cmake_minimum_required(VERSION 3.24)
set(mode AUTO)
set(gpu ON)
set(nvcc "${WORK}/${CASE}/nvcc")
string(REGEX REPLACE "([][+.*?^$()|])" "\\\\\\1" nvcc_pattern "${nvcc}")  # a path such as release-g++ is no pattern
set(script "")
set(expect_failure FALSE)
set(expected "")

# An nvcc before 12.0: it answers --version, and knows no C++20.
set(ancient "case \"$*\" in
  *--version*) echo 'nvcc: NVIDIA (R) Cuda compiler driver'; echo 'Cuda compilation tools, release 11.2, V11.2.152' ;;
  *) echo \"nvcc fatal   : Value 'c++20' is not defined for option 'std'\" >&2; exit 1 ;;
esac")
# A real one whose host compiler is too new for it.
set(refuses_host "case \"$*\" in
  *--version*) echo 'Cuda compilation tools, release 12.0, V12.0.140' ;;
  *) echo '/usr/include/crt/host_config.h:132:2: error: #error -- unsupported GNU version!' >&2; exit 1 ;;
esac")

if(CASE STREQUAL "fails")
  set(script "exit 1")
  set(expected "CUDA: off \\(${nvcc_pattern} cannot compile C\\+\\+20 kernels: [^\n]+\\)")
elseif(CASE STREQUAL "garbage")
  set(script "head -c 200 /dev/urandom; echo 'release the [hounds]; error: \${none}'; exit 0")
  set(expected "CUDA: off \\(${nvcc_pattern} cannot compile C\\+\\+20 kernels: [^\n]+\\)")
elseif(CASE STREQUAL "ancient")
  set(script "${ancient}")
  set(expected "CUDA: off \\(nvcc 11.2 cannot compile C\\+\\+20 kernels: nvcc fatal : Value 'c\\+\\+20' [^\n]+\\)")
elseif(CASE STREQUAL "host_compiler")
  set(script "${refuses_host}")
  set(expected "CUDA: off \\(nvcc 12.0 cannot compile C\\+\\+20 kernels: [^\n]*unsupported GNU version!\\)")
elseif(CASE STREQUAL "missing")
  set(expected "CUDA: off \\(no nvcc found\\)")
elseif(CASE STREQUAL "on_ancient")
  set(mode ON)
  set(script "${ancient}")
  set(expect_failure TRUE)
  set(expected "TINYMP_CUDA=ON, but nvcc 11.2 cannot compile C\\+\\+20 kernels: nvcc fatal")
elseif(CASE STREQUAL "on_missing")
  set(mode ON)
  set(expect_failure TRUE)
  set(expected "TINYMP_CUDA=ON, but no nvcc found")
elseif(CASE STREQUAL "no_gpu")
  set(gpu OFF)
  set(script "touch '${WORK}/${CASE}/was_called'")
  set(expected "CUDA: off \\(there is no NVIDIA GPU on this machine; TINYMP_CUDA=ON [^\n]+\\)")
elseif(CASE STREQUAL "off")
  set(mode OFF)
  set(script "touch '${WORK}/${CASE}/was_called'")
  set(expected "CUDA: off \\(TINYMP_CUDA=OFF\\)")
elseif(CASE STREQUAL "real")
  find_program(nvcc_here nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin NO_CACHE)
  if(NOT nvcc_here)
    message("[skipped] there is no nvcc on this machine")
    return()
  endif()
  set(nvcc "${nvcc_here}")
  set(expected "CUDA: on \\(nvcc [0-9.]+, architectures ")
else()
  message(FATAL_ERROR "no such case: ${CASE}")
endif()

file(REMOVE_RECURSE "${WORK}/${CASE}")
file(MAKE_DIRECTORY "${WORK}/${CASE}")
if(script)
  file(WRITE "${nvcc}" "#!/bin/sh\n${script}\n")
  file(CHMOD "${nvcc}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}/${CASE}/build" -G "${GENERATOR}" "-DCMAKE_CUDA_COMPILER=${nvcc}"
          "-DCMAKE_CXX_COMPILER=${CXX}" -DTINYMP_CUDA=${mode} -DTINYMP_GPU=${gpu} -DTINYMP_TESTS=OFF -DTINYMP_LESSONS=OFF
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)

string(REGEX REPLACE "[ \t]*\n  *" " " joined "${output}")  # CMake breaks the lines of an error
if(NOT "${output}\n${joined}" MATCHES "${expected}")
  message(FATAL_ERROR "expected: ${expected}\ngot:\n${output}")
endif()
if(expect_failure AND result EQUAL 0 OR NOT expect_failure AND NOT result EQUAL 0)
  message(FATAL_ERROR "exit code ${result}, expected failure: ${expect_failure}\n${output}")
endif()
string(REGEX MATCHALL "CUDA: (on|off)" lines "${output}")
list(LENGTH lines count)
if(NOT expect_failure AND NOT count EQUAL 1)
  message(FATAL_ERROR "the verdict should be one line, not ${count}\n${output}")
endif()
if(EXISTS "${WORK}/${CASE}/was_called")
  message(FATAL_ERROR "nvcc was called")
endif()
