#pragma once

#include <lessons/lab/clinic/case.h>

namespace tinymp::clinic {

void print_ward();                           ///< all patients, and all causes
void print_patient(const Patient& patient);  ///< the owner's words, and where to look
/// Some lines of the log as a table: loss, S, skipped steps, and the shares that the meters found.
std::vector<std::string> excerpt(const train::Run& run);
void print_text(const std::string& text);  ///< wrapped, indented by two

}  // namespace tinymp::clinic
