# cmake -DCASE=find_package|add_subdirectory|readme -DBUILD=tinymp's build -DSOURCE=tree -DWORK=folder
#       -DOPTIONS="-DCMAKE_CXX_COMPILER=..." -P run.cmake
# Builds someone else's program on tinymp and runs it.
cmake_minimum_required(VERSION 3.24)
set(work "${WORK}/${CASE}")
set(prefix "${work}/prefix")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

function(run output)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "exit code ${failed} of: ${ARGN}\n${text}")
  endif()
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

set(source "${CMAKE_CURRENT_LIST_DIR}/main.cpp")
if(CASE STREQUAL "readme")  # the ```cpp block after  <!-- program: readme -->
  file(READ "${SOURCE}/README.md" text)
  string(FIND "${text}" "<!-- program: readme -->" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "README.md has no <!-- program: readme -->, which marks the program to build and run")
  endif()
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "```cpp\n" at)
  math(EXPR at "${at} + 7")
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "\n```" end)
  if(at EQUAL 6 OR end EQUAL -1)
    message(FATAL_ERROR "README.md: no \`\`\`cpp block follows <!-- program: readme -->")
  endif()
  string(SUBSTRING "${text}" 0 ${end} text)
  set(source "${work}/readme.cpp")
  file(WRITE "${source}" "${text}\n")
endif()

if(CASE STREQUAL "add_subdirectory")
  # No ccache knows what nvcc makes, and the installed package is linked with it already.
  set(where "-DTINYMP_TREE=${SOURCE}" -DTINYMP_CUDA=OFF)
  if(NOT OPTIONS MATCHES "CMAKE_CXX_COMPILER_LAUNCHER")  # no ccache knows the objects: the quickest build will do
    list(APPEND where -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
  endif()
else()
  run(_ ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${prefix}")
  # The headers and one archive, no more; neither nlohmann-json nor fmt is asked of who uses them.
  file(GLOB_RECURSE installed RELATIVE "${prefix}" "${prefix}/*")
  foreach(file IN LISTS installed)
    if(NOT file MATCHES "^(include/(tinymp|kernels)/.*[.](h|inc)|lib[^/]*/(.*/)?(libtinymp(_zlib)?[.]a|cmake/tinymp/[A-Za-z-]+[.]cmake))$")
      message(FATAL_ERROR "installed, and should not be: ${file}")
    endif()
    file(STRINGS "${prefix}/${file}" foreign REGEX "# *include *<(nlohmann|fmt|CLI|stb|zlib|catch2|cuda)")
    if(file MATCHES "[.]h$" AND foreign)
      message(FATAL_ERROR "${file} asks for what only tinymp's own build needs: ${foreign}")
    endif()
  endforeach()
  set(where "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON
            -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON)
endif()

run(_ ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work}/build" ${OPTIONS} ${where}
    "-DCONSUMER_SOURCE=${source}")
run(_ ${CMAKE_COMMAND} --build "${work}/build" --parallel 2)
run(output "${work}/build/consumer")
if(output STREQUAL "")
  message(FATAL_ERROR "the program printed nothing")
endif()
message("${output}")
