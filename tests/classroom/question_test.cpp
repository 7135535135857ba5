#include <tests/catch.h>
#include <tinymp/base/error.h>

#include <lessons/lab/classroom/question.h>
#include <lessons/lab/classroom/small_format.h>
#include <tinymp/numeric/half.h>
#include <cmath>
#include <cstdint>
#include <set>

// The questions of a student, against answers that a program of another language and hand found from their
// text alone.
namespace tinymp::test {
namespace {

using namespace classroom;

std::string expected(int chapter, const std::string& student) {
  std::string text;
  for (const Question::Answer& answer : question(chapter, student).answers)
    text += (text.empty() ? "" : " ") + answer.text;
  return text;
}

}  // namespace

TEST_CASE("questions: a format with the widths of FP16 is FP16") {
  const SmallFormat format{5, 10};
  CHECK(format.largest() == 65504);
  CHECK(format.smallest() == std::ldexp(1.0, -24));
  CHECK(format.fields(1) == "0 01111 0000000000");
  CHECK(format.fields(std::ldexp(-1.0, -24)) == "1 00000 0000000001");
  for (std::uint32_t i = 1; i < 5000; ++i) {
    const float x = static_cast<float>(i) * static_cast<float>(i) * 0.00291f / static_cast<float>(1 + i % 97);
    INFO(x);
    CHECK(format.rounded(x) == static_cast<double>(float(half(x))));
    CHECK(format.rounded(-x * 1e-6f) == static_cast<double>(float(half(-x * 1e-6f))));
  }
}

TEST_CASE("questions: the answers") {
  CHECK(expected(1, "ada") == "0 100000 0100110 4278190080 7.275957614183426e-12");
  CHECK(expected(2, "ada") == "23887872 36");
  CHECK(expected(3, "ada") == "1024 9104");
  CHECK(expected(4, "ada") == "0 0 -18 -24 0 48");
  CHECK(expected(5, "ada") == "-3 7.5");
  CHECK(expected(6, "ada") == "2 11");
  CHECK(expected(7, "ada") == "19 20");
  CHECK(expected(8, "ada") == "12 13 83");
  CHECK(expected(9, "ada") == "2 1");
  CHECK(expected(1, "grace") == "0 0111 10011 252 0.00048828125");
  CHECK(expected(2, "grace") == "8192000 40");
  CHECK(expected(3, "grace") == "256 4096");
  CHECK(expected(4, "grace") == "2 3 0 0 13 0");
  CHECK(expected(5, "grace") == "-3 7.625");
  CHECK(expected(6, "grace") == "5 13");
  CHECK(expected(7, "grace") == "5 20");
  CHECK(expected(8, "grace") == "12 16 127");
  CHECK(expected(9, "grace") == "3 1");
  CHECK(expected(1, "linus") == "0 0110 1101 248 0.0009765625");
  CHECK(expected(2, "linus") == "7077888000 240");
  CHECK(expected(3, "linus") == "256 4096");
  CHECK(expected(4, "linus") == "0 0 -12 -9 0 -15");
  CHECK(expected(5, "linus") == "-8 0.12890625");
  CHECK(expected(6, "linus") == "-4 19");
  CHECK(expected(7, "linus") == "4 20");
  CHECK(expected(8, "linus") == "6 9 6");
  CHECK(expected(9, "linus") == "6 2");
  CHECK(expected(1, "李雷") == "0 0110 0110011 255 0.0001220703125");
  CHECK(expected(2, "李雷") == "8388608 64");
  CHECK(expected(3, "李雷") == "512 12160");
  CHECK(expected(4, "李雷") == "12 12 0 0 28 0");
  CHECK(expected(5, "李雷") == "-8 1.8125");
  CHECK(expected(6, "李雷") == "-4 19");
  CHECK(expected(7, "李雷") == "8 20");
  CHECK(expected(8, "李雷") == "3 9 1");
  CHECK(expected(9, "李雷") == "4 2");
}

TEST_CASE("questions: another student has another question, the same has the same") {
  for (int chapter = first_question; chapter <= last_question; ++chapter) {
    std::set<std::string> texts;
    for (int i = 0; i < 40; ++i) texts.insert(question(chapter, "student" + std::to_string(i)).text);
    INFO(chapter);
    CHECK(texts.size() >= 33);
    CHECK(question(chapter, "ada").text == question(chapter, "ada").text);
  }
  CHECK_THROWS_AS(question(10, "ada"), UsageError);
}

TEST_CASE("questions: what is taken for an answer") {
  const Question asked{1, "?", {{true, "011"}, {false, "0.0078125"}, {false, "-4"}}};
  for (const char* const right : {"011 0.0078125 -4", "011 2^-7 -4.0", "011 7.8125e-3 -4"})
    CHECK(is_right(asked, right));
  for (const char* const wrong : {"", "011", "11 2^-7 -4", "0011 2^-7 -4", "011 2^-7 4", "011 2^-7 -4 -4",
                                  "011 nan -4", "011 2^x -4", "011 0.0079 -4", "inf inf inf", "0x1p3 1 1"})
    CHECK_FALSE(is_right(asked, wrong));
  CHECK(is_right({2, "?", {{false, "0"}}}, "0"));
  CHECK_FALSE(is_right({2, "?", {}}, ""));
  const std::string file = "# answers\n 1 0 11\n\n10 4\n2\t7  8 # sure?\n1 1 2\n3\n";
  CHECK(answer_in(file, 1) == "1 2");
  CHECK(answer_in(file, 2) == "7 8");
  CHECK(answer_in(file, 3) == "");
  CHECK(answer_in(file, 4) == "");
}

}  // namespace tinymp::test
