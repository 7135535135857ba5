# The library: every .cpp under tinymp/ and kernels/, one static archive. A new file is found by itself; what runs on
# the GPU goes into kernels/cuda/*.cu; what a build without nvcc needs in its place into kernels/no_cuda/*.cpp.
file(GLOB_RECURSE TINYMP_SOURCES RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS tinymp/*.cpp kernels/*.cpp)
list(FILTER TINYMP_SOURCES EXCLUDE REGEX "^kernels/(no_cuda|bench)/")
tinymp_overlaid(TINYMP_SOURCES)
add_library(tinymp STATIC ${TINYMP_SOURCES})
add_library(tinymp::tinymp ALIAS tinymp)
target_include_directories(tinymp PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_features(tinymp PUBLIC cxx_std_20)
# The same bits from every compiler: no fused multiply-add that the text does not ask for.
target_compile_options(tinymp PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off> PRIVATE ${TINYMP_WARNINGS})
# sqrt need not set errno, and may then be vectorised; no bit changes.
set(roots kernels/cpu/update.cpp kernels/cpu/batch_norm.cpp kernels/cpu/layer_norm.cpp)
tinymp_overlaid(roots)
set_source_files_properties(${roots} PROPERTIES COMPILE_OPTIONS "-fno-math-errno")
# Pages and tables take the optimiser longer than they run.
file(GLOB report_sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS tinymp/report/*.cpp)
set_source_files_properties(${report_sources} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>")
target_compile_definitions(tinymp PRIVATE TINYMP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")  # data lies in datasets/
set_source_files_properties(kernels/dispatch.cpp kernels/cuda/executor.cpp PROPERTIES
  COMPILE_DEFINITIONS "TINYMP_HAS_CUDA=$<BOOL:${TINYMP_HAS_CUDA}>")
# BUILD_INTERFACE: headers only, and none of ours names them, so who links tinymp needs neither.
target_link_libraries(tinymp PUBLIC Threads::Threads PRIVATE ZLIB::ZLIB
                      $<BUILD_INTERFACE:fmt::fmt-header-only> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)

# The tiles of matrix products: one source, one object for each instruction set, chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set_source_files_properties(kernels/cpu/fast/tile_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
  set_source_files_properties(kernels/cpu/fast/tile_avx512.cpp PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mavx512bw;-mfma;-mf16c")
endif()

# GPU kernels. An object library, so that programs go on being linked as C++.
if(TINYMP_HAS_CUDA)
  file(GLOB_RECURSE TINYMP_CUDA_SOURCES RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS kernels/cuda/*.cu)
  tinymp_split(TINYMP_CUDA_SOURCES tinymp_cuda built)
  target_sources(tinymp PRIVATE ${built})
  if(TINYMP_CUDA_SOURCES)
    add_library(tinymp_cuda OBJECT ${TINYMP_CUDA_SOURCES})
    target_include_directories(tinymp_cuda PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(tinymp_cuda PRIVATE ${TINYMP_CUDA_FLAGS})
    target_sources(tinymp PRIVATE $<TARGET_OBJECTS:tinymp_cuda>)
  endif()
  target_link_libraries(tinymp PRIVATE CUDA::cudart_static)  # static: starts without a driver
else()
  file(GLOB TINYMP_NO_CUDA_SOURCES RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS kernels/no_cuda/*.cpp)
  target_sources(tinymp PRIVATE ${TINYMP_NO_CUDA_SOURCES})
endif()

# The git commit for run logs: asked at every build, recompiled only when it changed.
set(commit_source ${PROJECT_BINARY_DIR}/generated/commit.cpp)
add_custom_target(tinymp_commit BYPRODUCTS ${commit_source} COMMENT "" VERBATIM
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${commit_source}
          -P ${PROJECT_SOURCE_DIR}/cmake/Commit.cmake)
add_dependencies(tinymp tinymp_commit)
target_sources(tinymp PRIVATE ${commit_source})

# What report pages are made of, compiled in; without dygraphs those two are empty and charts are still.
include(${CMAKE_CURRENT_LIST_DIR}/EmbedFile.cmake)
embed_file(embedded page_css ${PROJECT_SOURCE_DIR}/tinymp/report/page.css)
embed_file(embedded page_js ${PROJECT_SOURCE_DIR}/tinymp/report/page.js)
embed_file(embedded dygraphs_js "${TINYMP_DYGRAPHS_JS}")
embed_file(embedded dygraphs_css "${TINYMP_DYGRAPHS_CSS}")
target_sources(tinymp PRIVATE ${embedded})
tinymp_take_built(tinymp)
