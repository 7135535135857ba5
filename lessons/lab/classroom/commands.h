#pragma once

/// The commands of the program: ./learn check, watch, hint, solution, reset; and those that the launcher
/// calls.
namespace tinymp::classroom {

int check(int argc, const char* const* argv);             ///< check [N | ID] [--json]
int hint(int argc, const char* const* argv);              ///< hint N.I
int solution(int argc, const char* const* argv);          ///< solution N.I [--give-up]
int reset(int argc, const char* const* argv);             ///< reset N.I
int watch(int argc, const char* const* argv);             ///< watch [N] [--once]
int progress(int argc, const char* const* argv);          ///< progress, a line for ./learn
int overlay(int argc, const char* const* argv);           ///< overlay DIR, for the launcher
int question_command(int argc, const char* const* argv);  ///< question [N] --id STUDENT
int grade_command(int argc, const char* const* argv);  ///< grade [--out FILE] [--id STUDENT] [--mine FOLDER]
int collect(int argc, const char* const* argv);        ///< collect FOLDER [--out FOLDER], for teachers

}  // namespace tinymp::classroom
