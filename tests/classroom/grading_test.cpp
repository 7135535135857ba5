#include <sys/stat.h>
#include <tests/catch.h>
#include <unistd.h>

#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/grading.h>
#include <lessons/lab/classroom/question.h>
#include <lessons/lab/classroom/similarity.h>
#include <tinymp/base/sha256.h>
#include <filesystem>
#include <nlohmann/json.hpp>

// What a submission is worth.
namespace tinymp::test {
namespace {

using namespace classroom;
namespace fs = std::filesystem;

const std::string stub = "int f(int x) {\n  // TODO\n  return x;\n}\n";
const std::string reference =
    "int f(int x) {\n  int sum = 0;\n  for (int i = 0; i < x; ++i) sum += i * i;\n  return sum % 7;\n}\n";

/// Grades a folder with the exercises of lesson 1.
Grades graded(const fs::path& folder) {
  const ScratchFolder scratch("test");
  const Grading grading{.exercises = exercises_named("1"),
                        .fence = best_fence(scratch.path(), true),
                        .scratch = scratch.path(),
                        .patience = {.compile = 60, .run = 20}};
  return grade(Submission(folder), "ada", grading);
}

}  // namespace

TEST_CASE("sha256: the vectors of FIPS 180-4, and every length around a block") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // From Python's hashlib: the hash of the hashes of 'x' * n, n = 50 .. 70.
  std::string all;
  for (std::size_t n = 50; n <= 70; ++n) all += sha256(std::string(n, 'x'));
  CHECK(sha256(all) == "9ce15c45abd7dd9cb16ae1dcc638ffab9da06e3736bcf3e2eb14fd69e55206e3");
}

TEST_CASE("likeness: names, comments and layout do not count, what the stub has does not either") {
  const std::string renamed =
      "// mine\nint f(int much) { int total = 0; /* all */\n\n for (int k = 0; k < much; ++k)\n"
      "total += k * k; return total % 7; }";
  CHECK(likeness_to(reference, reference, stub) == 1);
  CHECK(likeness_to(reference, renamed, stub) == 1);
  CHECK(likeness_to(reference, stub, stub) == 0);
  CHECK(likeness_to(reference, "", stub) == 0);
  const std::string other = "int f(int x) { return (x - 1) * x * (2 * x - 1) / 6 % 7; }";
  CHECK(likeness_to(reference, other, stub) < 0.2);
  CHECK(likeness_to(reference, other + reference, stub) == 1);  // a copy in a longer text is one
  CHECK(likeness(shingles_of(renamed, stub), shingles_of(reference, stub)) == 1);
  CHECK(likeness(shingles_of(other, stub), shingles_of(reference, stub)) ==
        likeness(shingles_of(reference, stub), shingles_of(other, stub)));
  CHECK(likeness(shingles_of(other, stub), shingles_of(reference, stub)) < 0.2);
  CHECK(likeness(shingles_of("", stub), shingles_of("", stub)) == 0);
  CHECK(is_stub("int f(int x) { return x; }", stub));
  CHECK_FALSE(is_stub("int f(int x) { return 1 - x; }", stub));
}

TEST_CASE("a text that reaches beyond its place is found out") {
  for (const std::string text : {"#define expect count", "  # include <x>", "/* */ #undef x",
                                 "a\n/*\n*/ #if 0", "%:define x", "\\\n#define x", "#\\\ndefine x",
                                 "int x; }\nnamespace other {", "#pragma GCC optimize", "%\\\n:define x"}) {
    INFO(text);
    CHECK_FALSE(why_refused(text).empty());
  }
  CHECK(why_refused("#pragma unroll\nfor (;;) { x = \"#define\"; }  // #").empty());
  for (const Exercise& exercise : exercises()) {
    INFO(exercise.id);
    CHECK(why_refused(exercise.reference()) == "");
    CHECK(why_refused(read_file(exercise.stub())) == "");
    CHECK(notable_words(exercise.reference()).empty());
  }
  CHECK(notable_words("asm(\"main\"); int mainly = fork();") == std::vector<std::string>{"asm", "fork"});
}

TEST_CASE("grades: no work and a corrupt progress.txt are worth nothing") {
  const ScratchFolder folder("submission");
  CHECK(graded(folder.path()).score() == 0);
  for (const Exercise& exercise : exercises_named("1"))
    write_file(folder.path() / exercise.own_file(), read_file(exercise.stub()));
  write_file(folder.path() / "progress.txt", std::string("exercise 1.1 passed 2026\n\0\xff garbage\n", 36));
  const Grades grades = graded(folder.path());
  CHECK(grades.score() == 0);
  CHECK(grades.exercises[0].outcome == "unwritten");
}

TEST_CASE("grades: what passes counts, with all that is known of it") {
  const ScratchFolder folder("submission");
  const std::vector<Exercise> two = exercises_named("1");
  const std::string right = two[1].reference();
  write_file(folder.path() / "mine" / two[0].own_file(), "int x = 0;\n");
  write_file(folder.path() / "mine" / two[1].own_file(), right);
  write_file(folder.path() / "progress.txt",
             "exercise 1.2 attempt 2026-01-01T00:00:00Z\nexercise 1.2 attempt 2026-01-01T00:00:01Z\n"
             "exercise 1.2 hint 2026-01-01T00:00:02Z\nexercise 1.2 gave_up 2026-01-01T00:00:03Z\n");
  std::string answer = "4";
  for (const Question::Answer& word : question(4, "ada").answers) answer += " " + word.text;
  write_file(folder.path() / "mine" / "answers.txt", answer + "\n5 1 1\n");
  const Grades grades = graded(folder.path());
  CHECK(grades.score() == 15);
  CHECK(grades.most() == 10 * static_cast<int>(two.size()) + 45);
  CHECK(grades.questions[3].right);
  CHECK(word(grades.questions[4]) == std::string("wrong"));
  CHECK(word(grades.questions[5]) == std::string("not answered"));
  CHECK(grades.exercises[0].outcome == "does not compile");
  const ExerciseGrade& grade = grades.exercises[1];
  CHECK(grade.attempts == 2);
  CHECK(grade.hints == 1);
  CHECK(grade.gave_up);
  CHECK(grade.likeness == 1);
  CHECK(grade.sha256 == sha256(right));

  const auto json = nlohmann::json::parse(grades_json(grades));
  CHECK(json["score"] == 15);
  CHECK(json["student"] == "ada");
  CHECK(json["exercises"][1]["passed"] == true);
  const auto scope = nlohmann::json::parse(gradescope_json(grades));
  CHECK(scope["score"] == 15);
  CHECK(scope["tests"][1]["status"] == "passed");
  double sum = 0;
  for (const auto& test : scope["tests"]) {
    sum += test["score"].get<double>();
    CHECK(test["score"].get<double>() <= test["max_score"].get<double>());
  }
  CHECK(sum == scope["score"]);
}

TEST_CASE("grades: links, pipes and long files in a submission are not read") {
  const ScratchFolder folder("submission"), elsewhere("elsewhere");
  const std::vector<Exercise> two = exercises_named("1");
  const fs::path own = folder.path() / two[1].own_file();
  write_file(elsewhere.path() / own.filename(), two[1].reference());
  fs::create_directory_symlink(elsewhere.path(), own.parent_path());
  CHECK(graded(folder.path()).exercises[1].outcome == "missing");
  fs::remove(own.parent_path());
  fs::create_directory(own.parent_path());
  fs::create_symlink(elsewhere.path() / own.filename(), own);
  CHECK(graded(folder.path()).exercises[1].outcome == "missing");
  fs::remove(own);
  REQUIRE(mkfifo(own.c_str(), 0600) == 0);
  CHECK(graded(folder.path()).exercises[1].outcome == "missing");
  fs::remove(own);
  write_file(own, std::string(1 << 20, ' ') + two[1].reference());
  CHECK(graded(folder.path()).exercises[1].outcome == "too long");
  if (geteuid() != 0) {  // root may read everything
    write_file(own, two[1].reference());
    fs::permissions(own, fs::perms::none);
    CHECK(graded(folder.path()).exercises[1].outcome == "unreadable");
    fs::permissions(own, fs::perms(0600));
  }
  write_file(own, "#define expect(...) count(65550)\n" + two[1].reference());
  CHECK(graded(folder.path()).exercises[1].outcome == "refused");
}

}  // namespace tinymp::test
