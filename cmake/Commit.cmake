# Run at every build:  cmake -DSOURCE=tree -DOUTPUT=commit.cpp -P Commit.cmake
# Writes build_commit() for the run logs. The file is written only when the commit has changed, so a new
# commit recompiles this one file and nothing else. A tree without its own .git (a ZIP, a copy inside another
# project) has the commit that the environment names as TINYMP_COMMIT, or is "unknown".
set(commit "unknown")
if(NOT "$ENV{TINYMP_COMMIT}" STREQUAL "")
  string(REGEX REPLACE "[^0-9a-zA-Z+._-]" "" commit "$ENV{TINYMP_COMMIT}")
endif()
find_program(GIT git)
if(GIT AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    execute_process(COMMAND "${GIT}" -C "${SOURCE}" diff --quiet HEAD
                    OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE changed)
    set(commit "${hash}")
    if(changed)
      string(APPEND commit "+")
    endif()
  endif()
endif()

set(text "#include <tinymp/train/provenance.h>

namespace tinymp::train {
std::string build_commit() { return \"${commit}\"; }
}  // namespace tinymp::train
")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
