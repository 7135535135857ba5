#include <fcntl.h>
#include <sys/file.h>
#include <tests/catch.h>
#include <unistd.h>

#include <lessons/lab/classroom/class_report.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/submission.h>
#include <tinymp/base/error.h>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

// A class of three: one whose answer is right, one who handed in the same, one who hands in trouble.
namespace tinymp::test {
namespace {

using namespace classroom;
namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Grades graded(const std::string& student, const std::string& text, const std::string& outcome) {
  Grades grades{.student = student};
  grades.exercises.push_back(
      {.number = "1.2", .id = "half_to_float", .title = "t", .outcome = outcome, .text = text});
  return grades;
}

/// What a command says of wrong use.
template <class Command>
std::string why_refused(std::vector<const char*> words, Command command) {
  try {
    command(static_cast<int>(words.size()), words.data());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("collect: files that are alike are listed, the most alike first") {
  const std::string a = "int f(int x) { int s = 0; while (x > 3) { s += x / 2; x -= 5; } return s; }";
  const std::string renamed = "int g(int y) { int t = 0; while (y > 3) { t += y / 2; y -= 5; } return t; }";
  const std::string other = "float half(float q) { return q * 2 - (q < 1 ? 8 : q > 9 ? 4 : 7) * q + 2; }";
  const std::vector<Grades> all{graded("a", a, "wrong"), graded("b", other, "wrong"),
                                graded("c", renamed, "passed"), graded("d", "", "missing"),
                                graded("e", "", "missing")};
  const std::vector<Pair> pairs = alike(all, 0.8);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].one == "a");
  CHECK(pairs[0].other == "c");
  CHECK(pairs[0].likeness == 1);
}

TEST_CASE("collect: a student's name is no formula in the table and no markup on the page") {
  const std::vector<Grades> all{graded("=1+1,\"x\"", "", "missing"), graded("<script>", "", "passed")};
  CHECK(holds(class_csv(all), "\n\"'=1+1,\"\"x\"\"\",0,10,missing,"));
  const std::string page = class_html(all, {{"1.2", "<b>", "&", 1, 0}}, {}, "/class");
  CHECK_FALSE(holds(page, "><script>"));
  CHECK_FALSE(holds(page, "><b>"));
  CHECK(holds(page, "&lt;script&gt;"));
}

TEST_CASE("collect: neither among the submissions, nor over them, nor from within one") {
  const ScratchFolder folder("class");
  write_file(folder.path() / "students" / "ada" / "half_to_float.h", "");
  write_file(folder.path() / "class.csv", "name,mail\nada,a@b\n");
  write_file(folder.path() / "bob" / "mine" / "half_to_float.h", "");
  const std::string students = (folder.path() / "students").string(), above = folder.path().string(),
                    bob = (folder.path() / "bob").string(), out = (folder.path() / "out").string();
  CHECK(holds(why_refused({"collect", students.c_str(), "--out", above.c_str()}, collect), "lies among"));
  CHECK(holds(why_refused({"collect", students.c_str(), "--out", students.c_str()}, collect), "lies among"));
  CHECK(holds(why_refused({"collect", students.c_str(), "--out", ""}, collect), "names no folder"));
  CHECK(holds(why_refused({"collect", students.c_str(), "--alike", "nan"}, collect), "from 0 to 1"));
  CHECK(holds(why_refused({"collect", bob.c_str(), "--out", out.c_str()}, collect), "one student's own"));
  CHECK(fs::exists(folder.path() / "students" / "ada" / "half_to_float.h"));
  const std::string own = (folder.path() / "own").string();
  write_file(folder.path() / "own" / "class.csv", "name,mail\nada,a@b\n");
  CHECK(
      holds(why_refused({"collect", students.c_str(), "--out", own.c_str()}, collect), "is not of ./learn"));
  CHECK(read_file(folder.path() / "own" / "class.csv") == "name,mail\nada,a@b\n");
  CHECK_FALSE(fs::exists(out));  // a call that was refused makes none
  fs::create_directory(out);
  const int lock = open(out.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(flock(lock, LOCK_EX | LOCK_NB) == 0);
  CHECK(holds(why_refused({"collect", students.c_str(), "--out", out.c_str()}, collect), "another ./learn"));
  close(lock);
}

TEST_CASE("collect: who handed in where nothing is looked for is told so") {
  const ScratchFolder folder("class");
  const std::vector<fs::path> names{"07_dynamic_scaling/move_scale.h"};
  const auto told = [&](const fs::path& student) { return Submission(student).misplaced(names); };
  write_file(folder.path() / "ada" / "submission" / "mine" / names[0], "");
  CHECK(holds(told(folder.path() / "ada"), "is not where it is looked for"));
  write_file(folder.path() / "bob" / "mine.zip", "");
  CHECK(told(folder.path() / "bob") == "mine.zip is packed: unpack it.");
  fs::create_directories(folder.path() / "cid" / "mine" / "07_dynamic_scaling");
  CHECK(told(folder.path() / "cid").empty());
  fs::create_symlink("/dev/zero", folder.path() / "cid" / "mine" / names[0]);
  CHECK(holds(told(folder.path() / "cid"), "is a link"));
}

TEST_CASE("collect: a folder of logs that cannot be read is named, and the others are read") {
  constexpr uid_t plain_user = 65534;
  const ScratchFolder folder("class");
  const fs::path runs = folder.path() / "ada" / "mine" / "runs";
  write_file(runs / "a.jsonl", "{}");
  write_file(runs / "closed" / "b.jsonl", "{}");
  fs::permissions(runs / "closed", fs::perms::none);
  const bool was_root = geteuid() == 0;  // root may read everything
  if (was_root) REQUIRE(seteuid(plain_user) == 0);
  const RecordedRuns found = Submission(folder.path() / "ada").runs();
  if (was_root) REQUIRE(seteuid(0) == 0);
  fs::permissions(runs / "closed", fs::perms::owner_all);
  REQUIRE(found.files.size() == 1);
  CHECK(found.files[0].filename() == "a.jsonl");
  REQUIRE(found.closed.size() == 1);
  CHECK(found.closed[0].filename() == "closed");
}

TEST_CASE("collect: what submissions could read, the folders of the system, is no place for a class") {
  const ScratchFolder folder("class");
  write_file(folder.path() / "ada" / "half_to_float.h", "");
  const std::string from = folder.path().string();
  const auto refused = [](std::vector<const char*> words, auto command) {
    CHECK(holds(why_refused(std::move(words), command), "where each submission may read"));
  };
  refused({"collect", "/usr/share"}, collect);
  refused({"collect", "/opt"}, collect);
  refused({"collect", from.c_str(), "--out", "/usr/tinymp-class"}, collect);
  refused({"grade", "--mine", "/usr/share/../share"}, grade_command);
  fs::create_directory_symlink("/usr/share", folder.path() / "link");
  refused({"grade", "--mine", (folder.path() / "link").c_str()}, grade_command);
  CHECK_NOTHROW(expect_unseen(folder.path()));
  CHECK_NOTHROW(expect_unseen("/user/class"));
}

TEST_CASE("collect: a class of three, one of whom hands in trouble") {
  const ScratchFolder folder("class"), out("out");
  const Exercise exercise = exercises_named("half_to_float").front();
  const std::string right = exercise.reference();
  write_file(folder.path() / "ada" / "mine" / exercise.own_file(), right);
  write_file(folder.path() / "bob" / exercise.own_file(), "// my own work\n" + right);
  for (const char* const name :
       {"broken.jsonl", "broken_1.jsonl", "broken_2.jsonl", "broken_3.jsonl", "broken_4.jsonl"})
    write_file(folder.path() / "bob" / "runs" / name, "{\"tinymp_run\":1,");
  fs::copy_file(source_folder() / "lessons/clinic/runs/03_crawls.jsonl",
                folder.path() / "bob" / "runs" / "patient.jsonl");
  write_file(folder.path() / "eve" / exercise.own_file(), "#include \"/dev/zero\"\n");
  fs::create_symlink("/dev/zero", folder.path() / "eve" / "answers.txt");
  fs::create_directory_symlink("/", folder.path() / "eve" / "runs");
  fs::create_symlink("nowhere", folder.path() / "lock");
  write_file(out.path() / "class.csv", "student,score,max_score\nzoe,10,10\n");
  write_file(out.path() / "students" / "zoe.json", "of an earlier call");
  write_file(out.path() / "students" / "notes.json", "the teacher's own");

  const std::string where = out.path().string(), from = folder.path().string();
  const char* const words[] = {"collect", from.c_str(), "--out", where.c_str(), "--trust"};
  std::ostringstream printed, complaints;
  std::streambuf* const cout = std::cout.rdbuf(printed.rdbuf());
  std::streambuf* const cerr = std::cerr.rdbuf(complaints.rdbuf());
  const int code = collect(5, words);
  std::cout.rdbuf(cout);
  std::cerr.rdbuf(cerr);
  CAPTURE(printed.str(), complaints.str());
  CHECK(code == 0);
  const std::string table = read_file(out.path() / "class.csv");
  CHECK(holds(table, "\nada,10,"));
  CHECK(holds(table, "\nbob,10,"));
  CHECK(holds(table, "\neve,0,"));
  CHECK(holds(read_file(out.path() / "alike.csv"), exercise.number() + ",ada,bob,1.000,1.000"));
  CHECK(nlohmann::json::parse(read_file(out.path() / "students" / "eve.json"))["score"] == 0);
  CHECK_FALSE(fs::exists(out.path() / "students" / "zoe.json"));
  CHECK(fs::exists(out.path() / "students" / "notes.json"));
  const std::string page = read_file(out.path() / "class.html");
  CHECK(holds(
      page,
      "<th scope=\"row\">ada</th><td>10</td><td>·\u00A0✓\u00A0·</td><td>·\u00A0·</td>"));  // chapters 1, 2
  CHECK(holds(
      page, "<th scope=\"row\">eve</th><td>0</td><td>·\u00A0<a href=\"#1.2-eve\" title=\"refused: It holds"));
  CHECK(holds(page, "Who passed what"));
  CHECK(holds(page, "Files that are alike"));
  CHECK(holds(page, "<figure class=\"panel card\">"));
  CHECK(holds(complaints.str(), "broken.jsonl"));
  CHECK(holds(complaints.str(), "broken_2.jsonl"));
  CHECK_FALSE(holds(complaints.str(), "broken_3.jsonl"));  // a hundred of them would hide the rest
  CHECK(holds(complaints.str(), "left out: 2 more logs or folders\n"));
}

}  // namespace tinymp::test
