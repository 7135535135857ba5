# Emulated kernels under the sanitizers: bugs.cpp, where each bug must be named, and the tests of this folder with the
# GEMM ladder, where nothing may be. The machine of kernels/emu is compiled once more for each sanitizer. In a build
# that is itself sanitized these have nothing to add.
file(GLOB emu_machine CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/emu/*.cpp)
list(APPEND emu_machine ${PROJECT_SOURCE_DIR}/tinymp/base/parallel_for.cpp
     ${PROJECT_SOURCE_DIR}/kernels/numerics/tensor_core.cpp ${PROJECT_SOURCE_DIR}/kernels/numerics/tensor_core_table.cpp)
set(emu_ladder ${ladder} ${other_rungs} ${PROJECT_SOURCE_DIR}/kernels/cuda/gemm/ladder.cpp)  # units: cmake/Library.cmake
file(GLOB emu_suite CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/emu/*_test.cpp)
# bugs.cpp has the bugs. The counter of accesses is one for all emulated threads: ThreadSanitizer calls that a race.
list(FILTER emu_suite EXCLUDE REGEX "/(bugs|accesses)_test\\.cpp$")
# Assertions take any optimiser longer than they run.
set_source_files_properties(${emu_suite} PROPERTIES COMPILE_OPTIONS -O0)
include(CheckCXXSourceCompiles)

# emu_sanitizer_test(SANITIZER NAME PROGRAM ARGUMENT TEXT...)
function(emu_sanitizer_test sanitizer test program)
  set(name "emu: -fsanitize=${sanitizer}: ${test}")
  if(sanitizer STREQUAL "thread" AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # clang++ 14: its ThreadSanitizer dies at the first change of stacks.
    add_test(NAME ${name} COMMAND bash -c "echo '[skipped] ThreadSanitizer follows our fibers with g++ only'; exit 77")
  elseif(TARGET ${program}_${sanitizer})
    add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/emu/sanitizers/run.sh
                                  $<TARGET_FILE:${program}_${sanitizer}> ${ARGN})
  else()
    add_test(NAME ${name} COMMAND bash -c "echo '[skipped] no -fsanitize=${sanitizer} here'; exit 77")
  endif()
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
endfunction()
function(emu_bug_test sanitizer bug)
  emu_sanitizer_test(${sanitizer} ${bug} emu_bugs ${bug} ${ARGN})
endfunction()

foreach(sanitizer address thread)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=${sanitizer})
  check_cxx_source_compiles("int main() { return 0; }" TINYMP_COMPILER_HAS_${sanitizer})
  unset(CMAKE_REQUIRED_FLAGS)
  if(TINYMP_COMPILER_HAS_${sanitizer} AND (sanitizer STREQUAL "address" OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
    add_library(emu_machine_${sanitizer} OBJECT ${emu_machine})
    target_include_directories(emu_machine_${sanitizer} PUBLIC ${PROJECT_SOURCE_DIR})
    target_compile_features(emu_machine_${sanitizer} PUBLIC cxx_std_20)
    target_compile_options(emu_machine_${sanitizer} PUBLIC ${TINYMP_WARNINGS} -O1 -g1 -fno-omit-frame-pointer
                                                           -ffp-contract=off -fsanitize=${sanitizer})
    target_link_options(emu_machine_${sanitizer} PUBLIC -fsanitize=${sanitizer})
    target_link_libraries(emu_machine_${sanitizer} PUBLIC Threads::Threads)
    add_executable(emu_bugs_${sanitizer} emu/sanitizers/bugs.cpp)
    target_link_libraries(emu_bugs_${sanitizer} PRIVATE emu_machine_${sanitizer})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # kernels have the same faults from every compiler: once is enough
      add_executable(emu_suite_${sanitizer} ${emu_suite} ${emu_ladder} ${PROJECT_SOURCE_DIR}/tinymp/data/gzip.cpp)
      target_link_libraries(emu_suite_${sanitizer} PRIVATE emu_machine_${sanitizer} catch_main ZLIB::ZLIB)
    endif()
  endif()
  emu_bug_test(${sanitizer} clean)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    emu_sanitizer_test(${sanitizer} "the GEMM ladder and all tests" emu_suite "~[exhaustive]")
  endif()
endforeach()

emu_bug_test(thread race "data race" "line: race_write" "line: race_read" "tile" "turn_around<false>" "'thread (31,0,0)'")
emu_bug_test(thread second_barrier "data race" "line: tile_write" "line: tile_read")
emu_bug_test(thread shuffle "data race" "line: shuffle_write" "line: shuffle_read")
emu_bug_test(thread others_copy "data race" "line: copy_issue" "line: copy_read")
emu_bug_test(thread ldmatrix "data race" "line: rows_write" "line: rows_read")
emu_bug_test(thread count "data race" "line: count" "count<false>")

emu_bug_test(address beyond_global "line: beyond_global" "In kernel beyond_global, block (4,0,0), thread (0,0,0)")
emu_bug_test(address beyond_shared "global-buffer-overflow" "line: beyond_shared" "'tile'"
             "In kernel beyond_shared, block (0,0,0), thread (63,0,0)")
emu_bug_test(address beyond_dynamic_shared "use-after-poison" "line: beyond_dynamic_shared" "thread (32,0,0)")
emu_bug_test(address no_wait "use-after-poison" "line: no_wait" "In kernel no_wait")

# The way of POSIX to change stacks, for processors of which kernels/emu/context.cpp knows no instructions.
add_executable(emu_ucontext emu/threads_test.cpp emu/bugs_test.cpp ${emu_machine})
target_include_directories(emu_ucontext PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(emu_ucontext PRIVATE cxx_std_20)
target_compile_options(emu_ucontext PRIVATE ${TINYMP_WARNINGS} -O1 -ffp-contract=off)
target_compile_definitions(emu_ucontext PRIVATE TINYMP_EMU_UCONTEXT)
target_link_libraries(emu_ucontext PRIVATE catch_main Threads::Threads)
add_test(NAME "emu: fibers of POSIX" COMMAND emu_ucontext)
