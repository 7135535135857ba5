# cmake -DCOMPILER=... -DFLAGS=... -DROOT=... -DSOURCE=x.cpp -DMESSAGE=regex -P check_compile.cmake
# MESSAGE empty: the file has to compile. Otherwise it must not, and the compiler has to say something that matches.
execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} ${FLAGS} -std=c++20 -fsyntax-only -I${ROOT} ${SOURCE}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(MESSAGE STREQUAL "")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} has to compile, but the compiler says:\n${output}")
  endif()
elseif(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, and it must not: expected an error that matches\n  ${MESSAGE}")
elseif(NOT output MATCHES "${MESSAGE}")
  message(FATAL_ERROR "${SOURCE} is refused, but for another reason than\n  ${MESSAGE}\nThe compiler says:\n${output}")
endif()
