# ./learn run N --mine: a build in which some files of the library are replaced. The new files lie at the same
# paths under another folder, the overlay. Compilers look there first, and a source that lies there is
# compiled from there. Only sources that these files touch are compiled: touched.cmake there lists the sources
# that are or include one of them (lessons/lab/classroom/affected_sources.h). built.cmake lists the objects of
# the ordinary build (TakeBuilt.cmake), which are linked for all others. Without an overlay nothing changes.
set(TINYMP_OVERLAY "" CACHE PATH "A folder whose files stand in the place of the library's")
if(TINYMP_OVERLAY)
  include_directories(BEFORE ${TINYMP_OVERLAY})
  include(${TINYMP_OVERLAY}/touched.cmake)
  include(${TINYMP_OVERLAY}/built.cmake)
endif()

function(tinymp_overlaid list) # relative to the project: the overlay's where there is one
  if(NOT TINYMP_OVERLAY)
    return()
  endif()
  set(overlaid)
  foreach(source IN LISTS ${list})
    if(EXISTS ${TINYMP_OVERLAY}/${source})
      set(source ${TINYMP_OVERLAY}/${source})
    endif()
    list(APPEND overlaid ${source})
  endforeach()
  set(${list} ${overlaid} PARENT_SCOPE)
endfunction()

# tinymp_split(SOURCES TARGET OBJECTS): takes the sources of the target that no piece touches out of the list,
# and sets OBJECTS to their objects. A source whose object is missing stays in the list and is compiled, which
# is only slower.
function(tinymp_split list target out)
  set(compiled)
  set(objects)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY "${PROJECT_BINARY_DIR}" OUTPUT_VARIABLE folder)
  foreach(source IN LISTS ${list})
    set(object)
    if(TINYMP_OVERLAY AND NOT source MATCHES "^\\$<")
      cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
      set(base "${CMAKE_CURRENT_SOURCE_DIR}")
      cmake_path(IS_PREFIX TINYMP_OVERLAY "${path}" overlaid)
      cmake_path(IS_PREFIX CMAKE_CURRENT_BINARY_DIR "${path}" generated)
      if(overlaid)
        cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${TINYMP_OVERLAY}")
        cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
      elseif(generated)
        set(base "${CMAKE_CURRENT_BINARY_DIR}")
      endif()
      cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
      cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${base}")
      if(path MATCHES "^units/(.*)(_emu[.]cpp|[.]cu)$")  # tinymp_kernel_units
        set(name "${CMAKE_MATCH_1}.cuh")
      endif()
      string(REPLACE "../" "__/" path "${path}")  # as CMake names objects
      cmake_path(SET object NORMALIZE "${folder}/CMakeFiles/${target}.dir/${path}.o")
      if(name IN_LIST TINYMP_TOUCHED OR NOT object IN_LIST TINYMP_BUILT)
        set(object)
      endif()
    endif()
    if(object)
      list(APPEND objects "${TINYMP_OVERLAY}/built/${object}")
    else()
      list(APPEND compiled "${source}")
    endif()
  endforeach()
  set(${list} "${compiled}" PARENT_SCOPE)
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()

function(tinymp_take_built target) # call it after the last of its sources
  if(NOT TINYMP_OVERLAY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  tinymp_split(sources ${target} objects)
  list(APPEND sources ${objects})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON)
  set_target_properties(${target} PROPERTIES SOURCES "${sources}" LINKER_LANGUAGE CXX)
endfunction()
