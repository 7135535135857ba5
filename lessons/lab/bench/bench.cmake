# ./learn bench and ./learn gpu-check: the program measure. It looks for cuBLAS, OpenBLAS and PyTorch when it
# runs, so nothing here links them.
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.cpp)
tinymp_units(bench_sources)
list(FILTER bench_sources EXCLUDE REGEX "/measure_main[.]cpp$")
if(TINYMP_HAS_CUDA)
  list(FILTER bench_sources EXCLUDE REGEX "/no_cuda_")
else()
  list(FILTER bench_sources EXCLUDE REGEX "/(cuda_executor|cublas|cublas_lt)[.]cpp$")
endif()
add_library(tinymp_bench STATIC ${bench_sources})
target_link_libraries(tinymp_bench PUBLIC tinymp_lab tinymp_mpi nlohmann_json::nlohmann_json
                                   PRIVATE tinymp_build CLI11::CLI11 fmt::fmt ${CMAKE_DL_LIBS})
if(TINYMP_HAS_CUDA)
  target_link_libraries(tinymp_bench PRIVATE CUDA::cudart_static)
endif()
# The optimiser would need longer for the files that only start and describe measurements than they run.
set(measuring ${bench_sources})
list(FILTER measuring INCLUDE REGEX "/(cpu_gemm|cpu_product|fma_peak|limits)[.]cpp$")
list(REMOVE_ITEM bench_sources ${measuring})
set_source_files_properties(${bench_sources} bench/measure_main.cpp PROPERTIES COMPILE_OPTIONS "${TINYMP_BRIEFLY}")
target_compile_definitions(tinymp_bench PRIVATE TINYMP_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  TINYMP_BENCH_PYTORCH="${CMAKE_CURRENT_SOURCE_DIR}/bench/pytorch.py"
  TINYMP_MPIEXEC="$<IF:$<BOOL:${TINYMP_HAS_MPI}>,${MPIEXEC_EXECUTABLE},mpirun>"
  TINYMP_BENCH_RESULTS="${CMAKE_CURRENT_SOURCE_DIR}/bench/results")
add_executable(measure bench/measure_main.cpp)
target_link_libraries(measure PRIVATE tinymp_bench tinymp_build CLI11::CLI11)
set_target_properties(measure PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# ./learn bench gemm --count: the rungs once more, with a call before each load and store. Built only by its own name.
file(GLOB rungs RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/gemm/*.cuh)
if(TINYMP_EMULATION AND NOT TINYMP_SANITIZE)
  tinymp_kernel_units(counted_gpu counted_rungs ${rungs})
  add_library(counted_rungs OBJECT EXCLUDE_FROM_ALL ${counted_rungs})
  target_link_libraries(counted_rungs PRIVATE tinymp_build)
  # The machine knows nothing of a sanitizer, and shared memory is what the counter takes for it: static.
  target_compile_options(counted_rungs PRIVATE -O1 -fsanitize=thread -U__SANITIZE_THREAD__ -D__shared__=static)
  target_compile_definitions(counted_rungs PRIVATE TINYMP_COUNTS_ACCESSES)
  add_executable(count_gemm EXCLUDE_FROM_ALL bench/count/main.cpp bench/count/callbacks.cpp $<TARGET_OBJECTS:counted_rungs>)
  target_compile_options(count_gemm PRIVATE ${TINYMP_WARNINGS})
  target_link_libraries(count_gemm PRIVATE tinymp::tinymp)
  set_target_properties(count_gemm PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()

# ./learn bench micro: times each kernel. Built only by its own name.
if(TINYMP_MICROBENCH)
  add_executable(tinymp_microbench EXCLUDE_FROM_ALL bench/micro/main.cpp)
  target_compile_options(tinymp_microbench PRIVATE ${TINYMP_WARNINGS})
  target_link_libraries(tinymp_microbench PRIVATE tinymp::tinymp benchmark::benchmark)
  set_target_properties(tinymp_microbench PROPERTIES
    OUTPUT_NAME microbench RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()
