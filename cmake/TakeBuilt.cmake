# Run by ./learn run N --mine:  cmake -DFROM=build -DTO=overlay -P TakeBuilt.cmake
# Copies the objects of the ordinary build to overlay/built, and lists them in overlay/built.cmake for
# Overlay.cmake. It copies because the ordinary build may go on while the overlay links. Unchanged objects
# stay untouched, so nothing is linked again.
file(GLOB_RECURSE objects RELATIVE "${FROM}" "${FROM}/CMakeFiles/*.o" "${FROM}/lessons/*.o")
list(FILTER objects INCLUDE REGEX "^CMakeFiles/tinymp[a-z_]*\\.dir/|/(tinymp_lab|tinymp_report|tinymp_recorded|tinymp_lesson|tinymp_experiments|learn|lesson_[0-9]+|race_02)\\.dir/")
foreach(object IN LISTS objects)
  cmake_path(GET object PARENT_PATH folder)
  file(MAKE_DIRECTORY "${TO}/built/${folder}")
  file(COPY_FILE "${FROM}/${object}" "${TO}/built/${object}" ONLY_IF_DIFFERENT)
endforeach()

set(text "set(TINYMP_BUILT \"${objects}\")\n")
set(before "")
if(EXISTS "${TO}/built.cmake")
  file(READ "${TO}/built.cmake" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${TO}/built.cmake" "${text}")
endif()
