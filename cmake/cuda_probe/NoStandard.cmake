# Keeps CMake from adding a -std of its own, which would override ours. When the standard is nvcc's default,
# CMake adds no option.
set(CMAKE_CUDA_STANDARD ${CMAKE_CUDA_STANDARD_COMPUTED_DEFAULT})
set(CMAKE_CUDA_EXTENSIONS ${CMAKE_CUDA_EXTENSIONS_COMPUTED_DEFAULT})
