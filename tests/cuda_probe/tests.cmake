# The build with nvcc of every kind, and with none.
foreach(case fails garbage ancient host_compiler missing on_ancient on_missing no_gpu off real)
  add_test(NAME "cuda_probe: ${case}"
    COMMAND ${CMAKE_COMMAND} -DCASE=${case} "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DCXX=${CMAKE_CXX_COMPILER}"
            "-DGENERATOR=${CMAKE_GENERATOR}"
            "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/cuda_probe" -P ${CMAKE_CURRENT_SOURCE_DIR}/cuda_probe/run.cmake)
  set_tests_properties("cuda_probe: ${case}" PROPERTIES SKIP_REGULAR_EXPRESSION "\\[skipped\\]" LABELS cuda)
endforeach()

if(TINYMP_HAS_CUDA)
  add_executable(cuda_same_bits cuda_probe/same_bits.cu)
  target_include_directories(cuda_same_bits PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(cuda_same_bits PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${TINYMP_CUDA_FLAGS}>)
  target_link_libraries(cuda_same_bits PRIVATE tinymp::tinymp)
  set_target_properties(cuda_same_bits PROPERTIES LINKER_LANGUAGE CXX)  # nvcc's host compiler may be another
  add_test(NAME "cuda_probe: the formulas give the bits of the CPU" COMMAND cuda_same_bits)
  set_tests_properties("cuda_probe: the formulas give the bits of the CPU" PROPERTIES
                       SKIP_REGULAR_EXPRESSION "\\[skipped\\]" LABELS cuda)
  add_dependencies(test_cuda cuda_same_bits)
endif()
