#include <fmt/format.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/question.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/words.h>
#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>
#include <utility>

// ./learn question: asks a student the questions drawn for them.
namespace tinymp::classroom {
namespace {

/// A question is written in lines of the width of a screen. This joins them into one paragraph. Formulas,
/// which are indented, and the last line, which says what to answer, stay lines of their own.
std::string in_paragraphs(const std::string& text) {
  std::istringstream lines(text.substr(0, text.rfind('\n')));
  std::string all;
  bool formula = true;
  for (std::string line; std::getline(lines, line);) {
    const bool was_formula = std::exchange(formula, line.rfind(' ', 0) == 0);
    all += (all.empty() ? "" : was_formula || formula ? "\n" : " ") + line;
  }
  return all + text.substr(text.rfind('\n'));
}

}  // namespace

int question_command(int argc, const char* const* argv) {
  int chapter = 0;
  std::string student;
  CLI::App app(
      "One question a chapter, with numbers of your own. Answers go into mine/answers.txt, a line each: the "
      "chapter, and the words that the question asks for.\nNumbers as 0.375, 1e-3 or 2^-7.",
      "./learn question");
  app.add_option("N", chapter, "1 to 9 (all of them)")->check(lab::whole(first_question, last_question));
  app.add_option("--id", student, "Who you are: as your teacher knows you")->required();
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  for (int n = chapter == 0 ? first_question : chapter; n <= (chapter == 0 ? last_question : chapter); ++n)
    std::cout << lab::fitted(fmt::format("Question {}. {}\nIn mine/answers.txt: {} ...\n\n", n,
                                         in_paragraphs(question(n, student).text), n));
  return 0;
}

}  // namespace tinymp::classroom
