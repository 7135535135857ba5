#include <unistd.h>

#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/siblings.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <vector>

// ./learn run N: hands over to the program of lesson N, with all that follows.
namespace tinymp::lab {
namespace {

std::string listed(const std::vector<Sibling>& lessons) {
  std::string text;
  for (const Sibling& lesson : lessons) text += (text.empty() ? "" : ", ") + lesson.number;
  return text;
}

void print_help(const std::vector<Sibling>& lessons) {
  std::cout << "The experiment of a lesson.\nUsage: ./learn run N [OPTIONS]\n\nLessons:\n";
  for (const Sibling& lesson : lessons) {
    std::cout << "  " << std::string(2 - std::min<std::size_t>(2, lesson.number.size()), ' ') << lesson.number
              << "  " << about(lesson).title << "\n";
  }
  std::cout << "\n./learn run N --help tells the options of lesson N; all have --seeds K, --data NAME, "
               "--smoke, --verify.\n";
}

}  // namespace

int run_command(int argc, char** argv) {
  const std::vector<Sibling> lessons = lesson_programs();
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    print_help(lessons_of_course());
    return 0;
  }
  const std::string choices = lessons.empty() ? "none is built" : "there are " + listed(lessons);
  if (word.empty()) throw UsageError("run which lesson? " + choices + "; for example ./learn run 6");
  const std::string number = lesson_number(word);
  const auto lesson =
      std::ranges::find_if(lessons, [&number](const Sibling& sibling) { return sibling.number == number; });
  if (lesson == lessons.end()) throw UsageError(concat("there is no lesson '", word, "': ", choices));

  std::string program = lesson->path;
  std::vector<char*> arguments{program.data()};
  arguments.insert(arguments.end(), argv + 2, argv + argc);
  arguments.push_back(nullptr);
  std::cout.flush();
  execv(program.c_str(), arguments.data());
  throw Error(concat("cannot start ", program, ": ", std::strerror(errno)));
}

}  // namespace tinymp::lab
