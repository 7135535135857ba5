# Keeps CMake from adding a -std of its own, which would win over ours: to ask for nvcc's default is to ask for nothing.
set(CMAKE_CUDA_STANDARD ${CMAKE_CUDA_STANDARD_COMPUTED_DEFAULT})
set(CMAKE_CUDA_EXTENSIONS ${CMAKE_CUDA_EXTENSIONS_COMPUTED_DEFAULT})
