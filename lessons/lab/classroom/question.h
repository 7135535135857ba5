#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// One question for each chapter, with numbers drawn from the student's id, so a neighbour's answers do not
/// fit.
namespace tinymp::classroom {

inline constexpr int first_question = 1, last_question = 9;

struct Question {
  int chapter = 0;
  std::string text{};
  /// Bits are compared as text, numbers as numbers (to one in ten thousand).
  struct Answer {
    bool bits = false;
    std::string text{};
  };
  std::vector<Answer> answers{};
};

Question question(int chapter, const std::string& student);

/// Draws numbers that look random and are always the same for a student and a chapter.
class Draw {
 public:
  Draw(const std::string& student, int chapter);
  int between(int low, int high);  ///< both included
 private:
  std::string seed_;
  int drawn_ = 0;
};

Question::Answer whole(std::int64_t value);
Question::Answer real(double value);
void add_bits(std::vector<Question::Answer>& answers, const std::string& fields);

Question format_question(Draw draw);       ///< 1
Question tile_question(Draw draw);         ///< 2
Question sum_question(Draw draw);          ///< 3
Question gradient_question(Draw draw);     ///< 4
Question update_question(Draw draw);       ///< 5
Question window_question(Draw draw);       ///< 6
Question scaler_question(Draw draw);       ///< 7
Question exponential_question(Draw draw);  ///< 8
Question autocast_question(Draw draw);     ///< 9

/// The answer to a question in answers.txt: its last line that begins with the chapter. Empty: no answer.
std::string answer_in(const std::string& answers, int chapter);
bool is_right(const Question& question, const std::string& answer);

}  // namespace tinymp::classroom
