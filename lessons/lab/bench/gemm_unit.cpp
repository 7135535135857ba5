#include <lessons/lab/bench/check_gemm.cpp>
#include <lessons/lab/bench/cuda_libraries.cpp>
#include <lessons/lab/bench/executor.cpp>
#include <lessons/lab/bench/gemm.cpp>
#include <lessons/lab/bench/gemm_case.cpp>
#include <lessons/lab/bench/gemm_report.cpp>
#include <lessons/lab/bench/openblas.cpp>
#include <lessons/lab/bench/sweep_kernels.cpp>
