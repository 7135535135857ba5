# cmake -DCASE=headers|sources|offline|never|hash -DWORK=folder -DOPTIONS=... -P run.cmake
# What happens where the system's packages are missing.
cmake_minimum_required(VERSION 3.24)
set(work "${WORK}/${CASE}")
set(tree "${CMAKE_CURRENT_LIST_DIR}")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")
# A proxy where nobody listens: a machine without a network.
set(no_network ${CMAKE_COMMAND} -E env https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9
    HTTPS_PROXY=http://127.0.0.1:9 ALL_PROXY=http://127.0.0.1:9 no_proxy= NO_PROXY=)

function(expect text)
  foreach(pattern IN LISTS ARGN)
    string(REGEX REPLACE "[ \n]+" " " joined "${text}")
    if(NOT joined MATCHES "${pattern}")
      message(FATAL_ERROR "expected: ${pattern}\ngot:\n${text}")
    endif()
  endforeach()
endfunction()

if(CASE STREQUAL "headers" OR CASE STREQUAL "sources")
  # headers: what is nothing but headers, out of a source tree made of the system's. sources: what has to be compiled,
  # out of the folders of TINYMP_SOURCES, called as the packages are. What is then left is looked for in the system.
  set(names ZLIB Catch2)
  if(CASE STREQUAL "headers")
    set(names fmt nlohmann_json stb CLI11)
  endif()
  set(first_header_fmt fmt/core.h)
  set(first_header_nlohmann_json nlohmann/json.hpp)
  set(first_header_stb stb_image.h)
  set(first_header_CLI11 CLI/CLI.hpp)
  set(options -DTINYMP_TESTS=OFF)
  set(hidden "")
  set(left_out "")
  foreach(name IN LISTS names)
    string(TOUPPER "${name}" upper)
    set(source "$ENV{TINYMP_SOURCES}/${name}")
    if("$ENV{TINYMP_SOURCES}" STREQUAL "" OR NOT EXISTS "${source}")
      set(source "")
      if(first_header_${name})
        find_path(include "${first_header_${name}}" PATHS /usr /usr/local /opt/homebrew PATH_SUFFIXES include include/stb
                  NO_CACHE)
      endif()
      if(include)
        set(source "${work}/from_headers/${name}")
        file(MAKE_DIRECTORY "${source}/include")
        get_filename_component(folder "${first_header_${name}}" DIRECTORY)
        if(folder)
          file(CREATE_LINK "${include}/${folder}" "${source}/include/${folder}" SYMBOLIC)
        else()  # a header alone, at the top of its sources
          file(CREATE_LINK "${include}/${first_header_${name}}" "${source}/${first_header_${name}}" SYMBOLIC)
        endif()
      endif()
      unset(include)
    endif()
    if(source)
      list(APPEND hidden ${name})
      list(APPEND options -DCMAKE_DISABLE_FIND_PACKAGE_${name}=ON "-DFETCHCONTENT_SOURCE_DIR_${upper}=${source}")
      if(name STREQUAL "Catch2")
        list(APPEND options -DTINYMP_TESTS=ON)
      endif()
    else()
      list(APPEND left_out ${name})
    endif()
  endforeach()
  if(left_out)
    message("[skipped] left out, since TINYMP_SOURCES holds no such folder: ${left_out}")
  endif()
  if(hidden STREQUAL "")
    return()
  endif()
  execute_process(COMMAND ${no_network} ${CMAKE_COMMAND} -S "${tree}" -B "${work}/build" ${OPTIONS} ${options}
                  OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
  if(NOT failed)
    foreach(name IN LISTS hidden)
      expect("${log}" "${name}: sources in ")
    endforeach()
    execute_process(COMMAND ${CMAKE_COMMAND} --build "${work}/build" --parallel 2
                    OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
  endif()
  if(NOT failed)
    execute_process(COMMAND "${work}/build/fallback" OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
  endif()
  if(NOT failed AND "Catch2" IN_LIST hidden)
    execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir "${work}/build" --no-tests=error
                    OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
  endif()
  if(failed)
    message(FATAL_ERROR "${log}")
  endif()
  message("built from sources: ${hidden}\n${log}")

elseif(CASE STREQUAL "offline")  # one message, that names all packages for each package manager
  execute_process(COMMAND ${no_network} ${CMAKE_COMMAND} -S "${tree}" -B "${work}/build" ${OPTIONS}
                          -DTINYMP_FETCH=ALWAYS -DTINYMP_TESTS=ON
                  OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
  if(NOT failed)
    message(FATAL_ERROR "configured, without packages and without a network\n${log}")
  endif()
  expect("${log}" "not installed here: ZLIB fmt nlohmann_json stb CLI11 Catch2" "zlib-1[.]3[.]1[.]tar[.]gz: "
         "apt-get install zlib1g-dev libfmt-dev nlohmann-json3-dev libstb-dev libcli11-dev catch2"
         "dnf install zlib-devel fmt-devel json-devel stb_image-devel cli11-devel catch-devel"
         "brew install zlib fmt nlohmann-json cli11 catch2")

elseif(CASE STREQUAL "never")  # nothing is downloaded, and the charts do without dygraphs
  execute_process(COMMAND ${CMAKE_COMMAND} -S "${tree}" -B "${work}/build" ${OPTIONS} -DTINYMP_FETCH=NEVER
                          -DTINYMP_TESTS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON
                  OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
  if(NOT failed)
    message(FATAL_ERROR "configured without fmt\n${log}")
  endif()
  expect("${log}" "not installed here:.* fmt" "TINYMP_FETCH=NEVER" "apt-get install.* libfmt-dev")

elseif(CASE STREQUAL "hash")  # a file of another hash than recorded is not used, and not kept
  file(WRITE "${work}/archive.tar.gz" "not what was recorded")
  set(FETCHCONTENT_BASE_DIR "${work}")
  set(TINYMP_FETCH ALWAYS)
  include("${tree}/../../../cmake/Fetch.cmake")
  string(REPEAT "0" 64 zeros)
  tinymp_download(path ${zeros} "file://${work}/archive.tar.gz")
  file(GLOB kept "${work}/downloads/*")
  if(NOT path STREQUAL "" OR kept OR NOT tinymp_offline MATCHES "SHA-256")
    message(FATAL_ERROR "path '${path}', kept '${kept}', reason '${tinymp_offline}'")
  endif()
  file(SHA256 "${work}/archive.tar.gz" right)
  set(tinymp_offline "")
  tinymp_download(path ${right} "file://${work}/archive.tar.gz")
  if(NOT EXISTS "${path}")
    message(FATAL_ERROR "a file of the recorded hash was refused: ${tinymp_offline}")
  endif()
else()
  message(FATAL_ERROR "no such case: ${CASE}")
endif()
