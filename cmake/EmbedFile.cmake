# Puts a file into the program. Included, it defines
#   embed_file(OUT_VARIABLE FUNCTION INPUT...)  appends to OUT_VARIABLE a generated .cpp that defines
#                                             std::string_view tinymp::report::FUNCTION()  with the bytes of the INPUTs,
#                                             one after another; an INPUT that does not exist gives an empty view
# and as a script (cmake -DFUNCTION= -DINPUT= -DOUTPUT= -P EmbedFile.cmake) it writes that .cpp; no xxd needed.
if(CMAKE_SCRIPT_MODE_FILE)
  set(bytes "")
  foreach(file IN LISTS INPUT)
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")  # 16 bytes a line
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," hex "${hex}")
    string(APPEND bytes "${hex}")
  endforeach()
  file(WRITE "${OUTPUT}" "#include <string_view>

namespace tinymp::report {
std::string_view ${FUNCTION}();
std::string_view ${FUNCTION}() {
  static constexpr char bytes[] = {${bytes}'\\0'};
  return {bytes, sizeof(bytes) - 1};
}
}  // namespace tinymp::report
")
  return()
endif()

set(TINYMP_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")
function(embed_file out_variable function)
  set(inputs ${ARGN})
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}.cpp")
  if(NOT EXISTS "${ARGV2}")
    set(inputs "")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}_empty.cpp")
  endif()
  add_custom_command(OUTPUT "${output}" DEPENDS ${inputs} "${TINYMP_EMBED_SCRIPT}" VERBATIM
    COMMAND ${CMAKE_COMMAND} "-DFUNCTION=${function}" "-DINPUT=${inputs}" "-DOUTPUT=${output}"
            -P "${TINYMP_EMBED_SCRIPT}")
  set_source_files_properties("${output}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set(${out_variable} ${${out_variable}} "${output}" PARENT_SCOPE)
endfunction()
