# Puts a file into the program. Included, it defines
#   embed_file(OUT_VARIABLE FUNCTION INPUT)   appends to OUT_VARIABLE a generated .cpp that defines
#                                             std::string_view tinymp::report::FUNCTION()  with the bytes of INPUT;
#                                             an INPUT that does not exist gives an empty view
# and as a script (cmake -DFUNCTION= -DINPUT= -DOUTPUT= -P EmbedFile.cmake) it writes that .cpp; no xxd needed.
if(CMAKE_SCRIPT_MODE_FILE)
  set(bytes "")
  if(INPUT)
    file(READ "${INPUT}" hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")  # 16 bytes a line
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  endif()
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
function(embed_file out_variable function input)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}.cpp")
  if(NOT EXISTS "${input}")
    set(input "")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}_empty.cpp")
  endif()
  add_custom_command(OUTPUT "${output}" DEPENDS ${input} "${TINYMP_EMBED_SCRIPT}" VERBATIM
    COMMAND ${CMAKE_COMMAND} "-DFUNCTION=${function}" "-DINPUT=${input}" "-DOUTPUT=${output}"
            -P "${TINYMP_EMBED_SCRIPT}")
  set(${out_variable} ${${out_variable}} "${output}" PARENT_SCOPE)
endfunction()
