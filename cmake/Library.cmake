# The library. CMake finds a new file by itself. Kernels for the GPU go into kernels/cuda/*.cuh. The files
# that a build without nvcc needs in place of *.cu go into kernels/no_cuda/*.cpp. Each group of sources is
# compiled once; three archives are made of the groups:
#   tinymp        everything, for most programs and for projects on top of tinymp
#   tinymp_course without pictures and checkpoints: all that a lesson needs
#   tinymp_small  without the larger models, too: all that ./learn quickstart needs and waits for
option(TINYMP_EMULATION "Device::cuda may run on the CPU: the CUDA kernels are compiled for it, too (kernels/emu)" ON)

file(GLOB_RECURSE core RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS tinymp/*.cpp kernels/*.cpp)
if(TINYMP_HAS_CUDA)
  list(FILTER core EXCLUDE REGEX "^kernels/no_cuda/")
endif()
tinymp_units(core)
# take(OUT PATTERN): moves the sources that match PATTERN from the core to the group OUT.
function(take out pattern)
  set(taken ${core})
  list(FILTER taken INCLUDE REGEX "${pattern}")
  list(REMOVE_ITEM core ${taken})
  set(${out} ${taken} PARENT_SCOPE)
  set(core ${core} PARENT_SCOPE)
endfunction()
take(stubs "^tinymp/(data/no_pictures|train/no_checkpoints)/")  # they stand for the next group
take(files "^tinymp/(data/(picture|resize|digit)|train/(checkpoint|safetensors|load_weights|run_state|predict)|nn/torch_layout)")
take(models "^tinymp/(nn/(language_model|lenet|resnet|layers|norm|deep_mlp|transformer)|amp/explain|autograd/finite_differences)")
take(mpi "^tinymp/dist/(no_)?mpi/")             # of programs that may run as one of several processes
take(simulator "^kernels/numerics/")             # tensor cores, bit for bit
take(machine "^kernels/emu/")                    # that emulated kernels run on

# tinymp_kernel_units(GPU EMULATION FILES...): a kernel file x.cuh is compiled twice, by nvcc for the GPU and
# by the C++ compiler for the emulation (kernels/cuda/cuda.h). Writes the two sources x.cu and x_emu.cpp, one
# line each, into the build folder. Every .cuh is such a file; code that kernels share is in an .h.
function(tinymp_kernel_units gpu_out emulation_out)
  set(gpu)
  set(emulation)
  foreach(kernel IN LISTS ARGN)
    cmake_path(REMOVE_EXTENSION kernel OUTPUT_VARIABLE name)
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/units/${name}")
    file(CONFIGURE OUTPUT "${unit}.cu" CONTENT "#include <${kernel}>\n")
    file(CONFIGURE OUTPUT "${unit}_emu.cpp" CONTENT "#include <${kernel}>\n")
    list(APPEND gpu "${unit}.cu")
    list(APPEND emulation "${unit}_emu.cpp")
  endforeach()
  set(${gpu_out} "${gpu}" PARENT_SCOPE)
  set(${emulation_out} "${emulation}" PARENT_SCOPE)
endfunction()
file(GLOB rungs RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS kernels/cuda/gemm/*.cuh)
file(GLOB kernels RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS kernels/cuda/*.cuh)
set(shown ${rungs})  # the rungs that lesson 02 runs
list(FILTER shown INCLUDE REGEX "naive[.]cuh$|tiled[.]cuh$")
list(REMOVE_ITEM rungs ${shown})
tinymp_kernel_units(cuda_ladder ladder ${shown})
tinymp_kernel_units(cuda_rest other_rungs ${rungs})  # and the others
tinymp_kernel_units(cuda emulation ${kernels})
list(APPEND cuda ${cuda_rest})
list(APPEND emulation ${other_rungs})

# The options with which every part of the library is compiled.
add_library(tinymp_build INTERFACE)
target_include_directories(tinymp_build INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(tinymp_build INTERFACE cxx_std_20)
# The same bits from every compiler: no fused multiply-add that the source does not ask for.
set(contract $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
target_compile_options(tinymp_build INTERFACE ${contract} ${TINYMP_WARNINGS})
target_link_libraries(tinymp_build INTERFACE Threads::Threads nlohmann_json::nlohmann_json ZLIB::ZLIB stb::stb)

# tinymp_precompile(TARGET OWNER HEADERS...): compiles the headers that most files include once, for all targets that name
# the same OWNER, the first of them; they must agree in whether they are optimised. It saves a quarter of the work. One file for
# all, because g++ makes it 60 MB large. Not with ccache, which saves more and would cache none of these files; and not for
# an overlay, which compiles too few files.
#
# From release 13 on g++ also wants these to agree, which -O1 leaves out; so what is compiled with -O1 is given them.
set(TINYMP_OF_O3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13
   AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(TINYMP_OF_O3 -munroll-only-small-loops -mvzeroupper)
endif()
set(TINYMP_STANDARD_HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <memory> <optional> <span> <string>
                            <string_view> <variant> <vector>)
function(tinymp_precompile target owner)
  if(CMAKE_CXX_COMPILER_LAUNCHER OR TINYMP_OVERLAY)
    return()
  endif()
  get_property(first GLOBAL PROPERTY TINYMP_HEADERS_OF_${owner})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${TINYMP_STANDARD_HEADERS} ${ARGN})
    set_property(GLOBAL PROPERTY TINYMP_HEADERS_OF_${owner} ${target})
  endif()
endfunction()

# tinymp_objects(GROUP): compiles ${GROUP} as tinymp_GROUP and sets GROUP_objects to its objects. With --mine
# the overlay provides the objects that no piece of the learner's touches (Overlay.cmake).
function(tinymp_objects group)
  set(sources ${${group}})
  tinymp_overlaid(sources)
  tinymp_split(sources tinymp_${group} objects)
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON)
  if(sources)
    add_library(tinymp_${group} OBJECT EXCLUDE_FROM_ALL ${sources})  # what is linked is built
    list(APPEND objects $<TARGET_OBJECTS:tinymp_${group}>)
    if(NOT group STREQUAL "cuda")
      target_link_libraries(tinymp_${group} PRIVATE tinymp_build)
      tinymp_precompile(tinymp_${group} library)
    endif()
  endif()
  set(${group}_objects ${objects} PARENT_SCOPE)
endfunction()

# Without errno the compiler may vectorise sqrt; no bit changes.
set(roots kernels/cpu/step.cpp kernels/cpu/batch_norm.cpp kernels/cpu/layer_norm.cpp)
tinymp_overlaid(roots)
set_source_files_properties(${roots} PROPERTIES COMPILE_OPTIONS "-fno-math-errno" SKIP_PRECOMPILE_HEADERS ON)
# The tiles of matrix products: one source, one object for each instruction set, chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set_source_files_properties(kernels/cpu/gemm/tile_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c" SKIP_PRECOMPILE_HEADERS ON)
  set(avx512 -mavx512f -mavx512vl -mavx512bw -mfma -mf16c)
  if(TINYMP_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # checks of 2,000 accesses in a row
    list(APPEND avx512 -mllvm -asan-instrumentation-with-call-threshold=100)
  endif()
  set_source_files_properties(kernels/cpu/gemm/tile_avx512.cpp PROPERTIES COMPILE_OPTIONS "${avx512}"
                              SKIP_PRECOMPILE_HEADERS ON)
endif()
# stb_image overflows integers where a JPEG is damaged: let them wrap, as it expects.
set_source_files_properties(tinymp/data/picture_decoder.cpp PROPERTIES COMPILE_OPTIONS "-fwrapv" SKIP_PRECOMPILE_HEADERS ON)
# The optimiser would need longer for the files that write and read JSON than they run.
file(GLOB json RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS tinymp/train/log_json.cpp tinymp/train/run_log*.cpp
     tinymp/train/finding_text.cpp tinymp/train/safetensors*.cpp tinymp/train/checkpoint*.cpp)
set_source_files_properties(${json} PROPERTIES COMPILE_OPTIONS
                            "$<$<CONFIG:Release>:-O1>;${TINYMP_OF_O3};$<$<BOOL:${TINYMP_SANITIZE}>:-O0>")
if(TINYMP_SANITIZE)
  set_source_files_properties(${json} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
set_source_files_properties(kernels/dispatch.cpp kernels/cuda/executor.cpp PROPERTIES COMPILE_DEFINITIONS
  "TINYMP_HAS_CUDA=$<BOOL:${TINYMP_HAS_CUDA}>;TINYMP_HAS_EMULATION=$<BOOL:${TINYMP_EMULATION}>")
set_source_files_properties(tinymp/data/find_files.cpp tinymp/train/provenance.cpp PROPERTIES COMPILE_DEFINITIONS
  TINYMP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")  # data lies in datasets/

# The git commit for run logs: read at every build, recompiled only when it has changed.
set(commit_source ${PROJECT_BINARY_DIR}/generated/commit.cpp)
add_custom_target(tinymp_commit BYPRODUCTS ${commit_source} COMMENT "" VERBATIM
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${commit_source}
          -P ${PROJECT_SOURCE_DIR}/cmake/Commit.cmake)
list(APPEND core ${commit_source})

if(TINYMP_HAS_MPI)
  list(FILTER mpi EXCLUDE REGEX "/no_mpi/")
else()
  list(FILTER mpi INCLUDE REGEX "/no_mpi/")
endif()

set(groups core stubs files models simulator machine ladder emulation)
if(TINYMP_HAS_CUDA)  # compiled apart, so that programs go on being linked as C++
  file(GLOB memory RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS kernels/cuda/*.cu)
  list(APPEND cuda ${cuda_ladder} ${memory})
  list(APPEND groups cuda)
endif()
foreach(group IN LISTS groups)
  tinymp_objects(${group})
endforeach()
if(TARGET tinymp_core)
  add_dependencies(tinymp_core tinymp_commit)
endif()
if(TARGET tinymp_cuda)
  target_include_directories(tinymp_cuda PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(tinymp_cuda PRIVATE ${TINYMP_CUDA_FLAGS})
endif()

set(TINYMP_LADDER ${simulator_objects} ${machine_objects} ${ladder_objects})  # for lesson 02
list(APPEND core_objects ${cuda_objects})
if(TINYMP_EMULATION)
  list(APPEND core_objects ${simulator_objects} ${machine_objects} ${ladder_objects} ${emulation_objects})
  set(TINYMP_LADDER "")  # every program has them
else()
  list(APPEND models_objects ${simulator_objects})
endif()
set(TINYMP_OBJECTS ${core_objects} ${models_objects} ${files_objects})  # of the library, for the classroom
add_library(tinymp_small STATIC EXCLUDE_FROM_ALL ${core_objects} ${stubs_objects})
add_library(tinymp_course STATIC EXCLUDE_FROM_ALL ${core_objects} ${models_objects} ${stubs_objects})
add_library(tinymp STATIC ${TINYMP_OBJECTS})
add_library(tinymp::tinymp ALIAS tinymp)
foreach(archive tinymp tinymp_course tinymp_small)
  set_target_properties(${archive} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${archive} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(${archive} PUBLIC cxx_std_20)
  target_compile_options(${archive} PUBLIC ${contract})
  target_link_libraries(${archive} PUBLIC Threads::Threads PRIVATE ZLIB::ZLIB)
  if(TINYMP_HAS_CUDA)
    target_link_libraries(${archive} PRIVATE CUDA::cudart_static)  # static: starts without a driver
  endif()
endforeach()

# MPI, for the programs that ask for it: every program that names its library loads it.
add_library(tinymp_mpi STATIC EXCLUDE_FROM_ALL ${mpi})
target_link_libraries(tinymp_mpi PUBLIC tinymp PRIVATE tinymp_build)
if(TINYMP_HAS_MPI)
  target_link_libraries(tinymp_mpi PRIVATE MPI::MPI_C)
  target_compile_definitions(tinymp_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # the C interface alone
endif()
tinymp_take_built(tinymp_mpi)
