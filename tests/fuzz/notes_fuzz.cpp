#include <lessons/lab/classroom/question.h>
#include <lessons/lab/learn/progress.h>
#include <tests/fuzz/fuzz.h>
#include <tinymp/base/foreign_text.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

// What a learner hands in beside code: progress.txt, answers.txt, JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tinymp;
  const std::string text(text_of(data, size));
  std::ofstream(own_file(), std::ios::binary) << text;
  const lab::Progress progress(own_file());
  (void)progress.count("exercise 1.2", "passed");
  (void)progress.first("exercise 1.2", "passed");
  static const std::vector<classroom::Question> questions = [] {
    std::vector<classroom::Question> all;
    for (int n = 1; n <= 9; ++n) all.push_back(classroom::question(n, "ada"));
    return all;
  }();
  for (const classroom::Question& question : questions)
    classroom::is_right(question, classroom::answer_in(text, question.chapter));
  if (excerpt(text).size() > 4 * 80 + 3 || cut_to(text, 5).size() > text.size() + 3) std::abort();
  if (is_too_deep(text)) return 0;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  (void)json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return 0;
}
