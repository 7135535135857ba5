# The library: every .cpp under tinymp/ and kernels/cpu, one static archive.
file(GLOB_RECURSE TINYMP_SOURCES RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     tinymp/*.cpp kernels/*.cpp kernels/cpu/*.cpp kernels/no_cuda/*.cpp)
add_library(tinymp STATIC ${TINYMP_SOURCES})
add_library(tinymp::tinymp ALIAS tinymp)
target_include_directories(tinymp PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_features(tinymp PUBLIC cxx_std_20)
# The same bits from every compiler: no fused multiply-add that the text does not ask for.
target_compile_options(tinymp PUBLIC -ffp-contract=off PRIVATE -Wall -Wextra -Wconversion
                       $<$<BOOL:${TINYMP_WERROR}>:-Werror>)
target_link_libraries(tinymp PUBLIC Threads::Threads PRIVATE ZLIB::ZLIB fmt::fmt nlohmann_json::nlohmann_json)

# GEMM micro-kernels: one source, one object for each instruction set, chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(kernels/cpu/fast/gemm_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
  set_source_files_properties(kernels/cpu/fast/gemm_avx512.cpp PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mavx512bw;-mfma;-mf16c")
endif()
