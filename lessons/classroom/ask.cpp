#include <fmt/format.h>
#include <lessons/classroom/commands.h>
#include <lessons/classroom/question.h>
#include <lessons/learn/command_line.h>
#include <CLI/CLI.hpp>
#include <iostream>

// ./learn question: a student's own.
namespace tinymp::classroom {

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
    std::cout << fmt::format("Question {}. {}\nIn mine/answers.txt: {} ...\n\n", n, question(n, student).text,
                             n);
  return 0;
}

}  // namespace tinymp::classroom
