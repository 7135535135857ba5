#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// One question a chapter, with numbers that come from the student's id: who copies the neighbour's answers
/// has answered another question.
namespace tinymp::classroom {

inline constexpr int first_question = 1, last_question = 9;

struct Question {
  int chapter = 0;
  std::string text{};
  /// Bits are compared as they are written, numbers as numbers (to one in ten thousand).
  struct Answer {
    bool bits = false;
    std::string text{};
  };
  std::vector<Answer> answers{};
};

Question question(int chapter, const std::string& student);

/// Numbers that look like chance and always are the same for a student and a chapter.
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

/// What answers.txt says to a question: its last line that begins with the chapter. Empty: nothing.
std::string answer_in(const std::string& answers, int chapter);
bool is_right(const Question& question, const std::string& answer);

}  // namespace tinymp::classroom
