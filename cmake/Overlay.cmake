# ./learn run N --mine: a build of everything with other texts for some files of the library, which lie at the same paths
# under another folder. Compilers look there first; sources are taken from there. Without an overlay nothing changes.
set(TINYMP_OVERLAY "" CACHE PATH "A folder whose files stand in the place of the library's")
if(TINYMP_OVERLAY)
  include_directories(BEFORE ${TINYMP_OVERLAY})
endif()

function(tinymp_overlaid list) # sources, relative to the project: those that the overlay has too become its own
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
