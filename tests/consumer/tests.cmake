# Other people's projects on top of tinymp, and machines that lack what it needs. Each builds in a folder of its own.
set(options -G ${CMAKE_GENERATOR})
foreach(name CMAKE_MAKE_PROGRAM CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CXX_FLAGS
             CMAKE_CUDA_COMPILER CMAKE_PREFIX_PATH TINYMP_WERROR)  # the last so that ccache knows the objects
  if(${name})
    list(APPEND options "-D${name}=${${name}}")
  endif()
endforeach()
if(NOT TINYMP_HAS_CUDA)
  list(APPEND options -DTINYMP_CUDA=OFF)
else()
  list(APPEND options -DTINYMP_CUDA=ON)
endif()

function(tinymp_consumer_test name script case)
  add_test(NAME "${name}"
    COMMAND ${CMAKE_COMMAND} -DCASE=${case} "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DBUILD=${PROJECT_BINARY_DIR}"
            "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/${script}" "-DOPTIONS=${options}" ${ARGN}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/${script}/run.cmake)
  set_tests_properties("${name}" PROPERTIES SKIP_REGULAR_EXPRESSION "\\[skipped\\]" PROCESSORS 2)
endfunction()
tinymp_consumer_test("consumer: find_package" consumer find_package)
set_tests_properties("consumer: find_package" PROPERTIES LABELS cuda)  # what nvcc made is installed, too
tinymp_consumer_test("consumer: add_subdirectory" consumer add_subdirectory)
tinymp_consumer_test("readme_program" consumer readme -DDOCUMENT=README.md)
tinymp_consumer_test("readme_program: two optimizers" consumer two_optimizers
                     -DDOCUMENT=lessons/07_dynamic_scaling/README.md)
foreach(case headers sources offline never hash)
  tinymp_consumer_test("fallback: ${case}" consumer/fallback ${case})
endforeach()
