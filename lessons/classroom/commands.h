#pragma once

/// What the program does: ./learn check N, hint, solution, reset.
namespace tinymp::classroom {

int check(int argc, const char* const* argv);     ///< check [N | ID] [--json]
int hint(int argc, const char* const* argv);      ///< hint N.I
int solution(int argc, const char* const* argv);  ///< solution N.I [--give-up]
int reset(int argc, const char* const* argv);     ///< reset N.I
int mutants(int argc, const char* const* argv);   ///< mutants [N], for who writes exercises

}  // namespace tinymp::classroom
