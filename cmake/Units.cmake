# Files that are compiled in one go. g++ spends most of its time on the library's headers, once for each file: ten small
# files in one compilation take as long as two or three of them. A file NAME_unit.cpp does nothing but include others;
# what it includes is not compiled on its own. Their names share a room, those in unnamed namespaces, too. With
# -DTINYMP_UNITS=OFF each file is compiled alone, which is faster where one file changes often.
#
# Files that a piece of a learner's may replace are in no unit (lessons/*/exercises/*/exercise.json).
option(TINYMP_UNITS "Compile the files that a NAME_unit.cpp includes in one go" ON)

# tinymp_units(LIST): takes the members, or the units, out of a list of sources.
function(tinymp_units list)
  foreach(unit IN LISTS ${list})
    if(NOT unit MATCHES "_unit[.]cpp$")
      continue()
    endif()
    if(NOT TINYMP_UNITS)
      list(REMOVE_ITEM ${list} ${unit})
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH unit BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(STRINGS ${path} members REGEX "^#include <.*[.]cpp>")
    list(TRANSFORM members REPLACE "^#include <(.*)>.*" "\\1")
    foreach(member IN LISTS members)
      list(REMOVE_ITEM ${list} ${member} ${PROJECT_SOURCE_DIR}/${member})
    endforeach()
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
