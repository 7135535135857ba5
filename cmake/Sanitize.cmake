# TINYMP_SANITIZE: included before the first target, so that it holds for everything that is linked together.
if(TINYMP_SANITIZE STREQUAL "address")
  # A null pointer that is used ends the program, with its place, without a check before each use.
  set(sanitize -fsanitize=address,undefined,float-cast-overflow -fno-sanitize=null -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(TINYMP_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread -fno-omit-frame-pointer)
elseif(TINYMP_SANITIZE)
  message(FATAL_ERROR "TINYMP_SANITIZE=${TINYMP_SANITIZE}: choose address or thread, or leave it empty")
else()
  return()
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize}>")
# Checked loops are not vectorised, and clang++ would warn of that.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-pass-failed>")
add_link_options(${sanitize})
