#include <tests/catch.h>

#include <lessons/lab/classroom/alarm.h>
#include <lessons/lab/classroom/class_report.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/homework.h>
#include <lessons/lab/classroom/plain_name.h>
#include <lessons/lab/classroom/try_run.h>
#include <tinymp/base/error.h>

// What a teacher sees of a class: alarms, names, who is late, who is alike; and what may not end the grading.
namespace tinymp::test {
namespace {

using namespace classroom;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Grades failing(const std::string& number, const std::string& message) {
  Grades grades{.student = "s"};
  grades.exercises.push_back(
      {.number = number, .outcome = message.empty() ? "passed" : "wrong", .message = message});
  return grades;
}

}  // namespace

TEST_CASE("alarm: four of five that fail with the same first line are one, three of five are none") {
  const Grades same = failing("1.1", "Your code cuts.\nat 1"), fine = failing("1.1", "");
  CHECK(alarms({same, same, same, failing("1.1", "Your code cuts.\nat 2"), fine}).size() == 1);
  CHECK(holds(alarms({same, same, same, same, fine})[0], "4 of 5 submissions fail 1.1"));
  CHECK(alarms({same, same, same, fine, fine}).empty());
  CHECK(alarms({same, same}).empty());
  CHECK(alarms({same, same, failing("1.1", "other")}).empty());
  CHECK(alarms({failing("1.1", "slow"), failing("2.1", "slow"), failing("3.1", "slow")}).size() == 1);
  CHECK_FALSE(
      holds(alarms({failing("1", "\033[2J"), failing("1", "\033[2J"), failing("1", "\033[2J")})[0], "\033"));
}

TEST_CASE("names: nothing of a folder's name harms a terminal or a file system, and two stay two") {
  CHECK(plain_name("ada") == "ada");
  CHECK(plain_name("Zoë O'Neil, 2") == "Zoë O'Neil, 2");
  const std::string hostile = plain_name("a\033[2J\nb/\x80\xc0\xaf\xe2\x80\xaez");
  CHECK(hostile.find_first_of("\033\n/\x80\xc0") == std::string::npos);
  CHECK(hostile.starts_with("a_[2J_b____"));
  CHECK(plain_name(std::string(248, 'z')).size() == 64 + 9);
  CHECK(plain_name(std::string(248, 'z')) != plain_name(std::string(247, 'z')));
  CHECK(plain_name("a\nb") != plain_name("a\tb"));
  CHECK(plain_name(std::string(63, 'x') + "ë").starts_with(std::string(63, 'x') + "-"));  // no letter is cut
}

TEST_CASE("homework: what was set, and until when") {
  Grading grading{.exercises = exercises()};
  Homework{.only = "4.1,Q4,1,q4"}.set(grading);
  CHECK(grading.exercises.size() == 4);
  CHECK(grading.exercises[0].number() == "1.1");
  CHECK(grading.exercises[3].number() == "4.1");
  CHECK(grading.questions == std::vector<int>{4});
  Homework{.due = "2026-03-01T10:00"}.set(grading);
  CHECK(grading.due);
  for (const char* const only : {"99.1", "Q0", "x", ","})
    CHECK_THROWS_AS((Homework{.only = only}.set(grading)), UsageError);
  for (const char* const due : {"2026-13-01T10:00", "2026-02-30T10:00", "tomorrow", "2026-03-01T10:00x"})
    CHECK_THROWS_AS((Homework{.due = due}.set(grading)), UsageError);
}

TEST_CASE("homework: the newest file that counts says who is late, and points stay") {
  const ScratchFolder folder("submission"), scratch("late");
  Grading grading{.exercises = exercises_named("1.2"), .questions = {}, .scratch = scratch.path()};
  grading.judge = [](auto&&...) { return Verdict{.outcome = Verdict::Outcome::passed}; };
  Homework{.due = "2026-03-01T10:00"}.set(grading);
  const auto file = folder.path() / grading.exercises[0].own_file();
  write_file(file, "\xef\xbb\xbfint x;\n");
  std::filesystem::last_write_time(file, *grading.due + std::chrono::seconds(61));
  write_file(folder.path() / "answers.txt", "1 2\n");  // no question counts
  const Grades late = grade(Submission(folder.path()), "ada", grading);
  CHECK(late.minutes_late == 2);
  CHECK(late.score() == 10);
  CHECK(late.most() == 10);
  CHECK(late.exercises[0].text == "int x;\n");
  std::filesystem::last_write_time(file, *grading.due);
  CHECK(grade(Submission(folder.path()), "ada", grading).minutes_late == 0);
  CHECK(holds(class_csv({late}), ",late\n"));
  CHECK(holds(class_csv({late}), ",2\n"));
}

TEST_CASE("class: three copies are one group, and its files are linked") {
  const std::vector<Pair> pairs{{"1.2", "a", "b", 1, 0.5},
                                {"1.2", "b", "c", 0.9, 0.4},
                                {"1.2", "d", "e", 0.95, 0},
                                {"1.3", "a", "d", 0.9, 0}};
  const std::vector<Group> groups = groups_of(pairs);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].students == std::vector<std::string>{"a", "b", "c"});
  CHECK(groups[0].likeness == 1);
  Grades a = failing("1.2", "Your code cuts <b>"), b = a;
  a.student = "a";
  b.student = "b c";
  a.folder = "/in/a/mine";
  b.folder = "/in/b c";
  const std::string page = class_html({a, b}, {{"1.2", "a", "b c", 1, 0}}, {}, "/out");
  CHECK(holds(page, "<a href=\"../in/a/mine/01_half/half_to_float.h\">a</a>"));
  CHECK(holds(page, "<a href=\"../in/b%20c/01_half/half_to_float.h\">b c</a>"));
  CHECK(holds(page, "title=\"wrong: Your code cuts &lt;b&gt;\""));
  CHECK(holds(page, "href=\"students/b%20c.json\""));
}

TEST_CASE("runs: a log a million deep is left out, one that is fine is not") {
  const ScratchFolder folder("runs");
  write_file(folder.path() / "deep.jsonl",
             "{\"tinymp_run\":1,\"lesson\":" + std::string(1000000, '[') + std::string(1000000, ']') + "}\n");
  CHECK_FALSE(why_unreadable(folder.path() / "deep.jsonl").empty());
  CHECK(why_unreadable(source_folder() / "lessons/clinic/runs/03_crawls.jsonl") == "");
  CHECK(holds(why_unreadable(folder.path() / "none.jsonl"), "none.jsonl"));
}

}  // namespace tinymp::test
