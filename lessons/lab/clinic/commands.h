#pragma once

/// The commands of the program: ./learn clinic, and ./learn check clinic.
namespace tinymp::clinic {

int show(int argc, const char* const* argv);   ///< clinic: the list, or one patient
int treat(int argc, const char* const* argv);  ///< clinic run N [--cured]
int check(int argc, const char* const* argv);  ///< check clinic [N [CAUSE]] [--hint]

}  // namespace tinymp::clinic
