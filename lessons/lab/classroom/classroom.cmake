# The exercises: ./learn check and the other commands of the classroom program. judge.cpp has the main() of
# every judge, serve.cpp the main() of every program with a submission; the rest of both is compiled when a
# learner asks for it. Linux only: the fences and limits of a check are those of Linux. Not with a sanitizer,
# because a check is compiled without one.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR TINYMP_SANITIZE)
  add_custom_target(classroom)
  return()
endif()
foreach(main judge serve)
  add_library(classroom_${main} OBJECT classroom/${main}.cpp)
  target_include_directories(classroom_${main} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(classroom_${main} PRIVATE cxx_std_20)
  target_compile_options(classroom_${main} PRIVATE ${TINYMP_WARNINGS} -O2)
endforeach()
set(with_library "$<TARGET_FILE:ZLIB::ZLIB>" -pthread)
if(TINYMP_HAS_CUDA)
  list(APPEND with_library "$<TARGET_FILE:CUDA::cudart_static>" -ldl -lrt)
endif()
# Lists as files, one path a line: a path may hold a space.
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/libraries.txt CONTENT "$<JOIN:${with_library},\n>\n")
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/objects.txt CONTENT "$<JOIN:${TINYMP_OBJECTS},\n>\n")
# The same for submissions that are no kernels of lesson 02: without the emulation, and with a dispatch that
# does not name it.
add_library(classroom_dispatch OBJECT ${PROJECT_SOURCE_DIR}/kernels/dispatch.cpp)
target_link_libraries(classroom_dispatch PRIVATE tinymp_build)
target_compile_definitions(classroom_dispatch PRIVATE TINYMP_HAS_CUDA=$<BOOL:${TINYMP_HAS_CUDA}> TINYMP_HAS_EMULATION=0)
set(without_emulation ${TINYMP_OBJECTS})
list(REMOVE_ITEM without_emulation ${machine_objects} ${ladder_objects} ${emulation_objects})
set(without_emulation "$<FILTER:${without_emulation},EXCLUDE,/kernels/dispatch[.]cpp>" $<TARGET_OBJECTS:classroom_dispatch>)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/objects_without_emulation.txt
     CONTENT "$<JOIN:${without_emulation},\n>\n")
file(GLOB classroom CONFIGURE_DEPENDS classroom/*.cpp)
tinymp_units(classroom)
tinymp_lab_library(tinymp_classroom ${classroom})
target_link_libraries(tinymp_classroom PUBLIC tinymp_lab)
add_dependencies(tinymp_classroom classroom_judge classroom_serve classroom_dispatch tinymp)
target_compile_definitions(tinymp_classroom PRIVATE TINYMP_CXX="${CMAKE_CXX_COMPILER}"
  TINYMP_JUDGE="$<TARGET_OBJECTS:classroom_judge>" TINYMP_SERVER="$<TARGET_OBJECTS:classroom_serve>"
  TINYMP_JUDGES="${CMAKE_BINARY_DIR}/judges" TINYMP_LIBRARY="$<TARGET_FILE:tinymp>"
  TINYMP_LIBRARIES="${CMAKE_BINARY_DIR}/generated/libraries.txt" TINYMP_AR="${CMAKE_AR}"
  TINYMP_OBJECTS="${CMAKE_BINARY_DIR}/generated/objects"
  TINYMP_OBJECT_FOLDER="${CMAKE_BINARY_DIR}/CMakeFiles"
  TINYMP_DISPATCH="$<TARGET_OBJECTS:classroom_dispatch>")
tinymp_program(classroom classroom/main.cpp)
target_link_libraries(classroom PRIVATE tinymp_classroom)
