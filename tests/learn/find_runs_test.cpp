#include <unistd.h>

#include <lessons/lab/learn/find_runs.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/base/parallel_for.h>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

/// Six logs in two folders, a table, and a file that is no run.
struct Recorded {
  files::Folder folder;
  Recorded() {
    for (const char* const name : {"a/one", "a/two", "a/three", "b/one", "b/two", "b/three"}) log(name);
    std::ofstream(folder / "b/broken.jsonl") << "garbage\n";
    std::ofstream(folder / "table.csv") << "step,loss,run\n1,2,x\n1,2,y\n";
  }
  void log(const std::string& name) const {
    const std::filesystem::path path = folder.path / (name + ".jsonl");
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << R"({"tinymp_run":1,"recipe":{"scaling":{"kind":"none"}},"name":")" << name
                        << "\"}\n{\"step\":1,\"loss\":1}\n";
  }
  std::string found(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder / name);
    std::string text;
    for (const train::Run& run : find_runs(paths)) text += run.header.name + " ";
    return text;
  }
  std::string complaint(const std::vector<std::string>& names) const {
    return files::message<Error>([&] { found(names); });
  }
};

}  // namespace

TEST_CASE("files, folders, patterns and tables, in the order of their names, each once") {
  const Recorded recorded;
  const int before = threads();
  for (const int count : {1, 4}) {
    set_threads(count);
    CHECK(recorded.found({"a"}) == "a/one a/three a/two ");
    CHECK(recorded.found({"b/two.jsonl", "a"}) == "b/two a/one a/three a/two ");
    CHECK(recorded.found({"a", "a/one.jsonl", "a"}) == "a/one a/three a/two ");
    CHECK(recorded.found({"*/one.jsonl"}) == "a/one b/one ");
    CHECK(recorded.found({"[ab]/t*o.jsonl"}) == "a/two b/two ");
    CHECK(recorded.found({"?"}) == "a/one a/three a/two b/one b/three b/two ");  // broken.jsonl is left out
    CHECK(recorded.found({"table.csv", "a/one.jsonl"}) == "x y a/one ");
    CHECK(recorded.found({"*.csv"}) == "x y ");
  }
  set_threads(before);
}

TEST_CASE("a run answers to its name without .jsonl, and a link that leads nowhere hides none") {
  const Recorded recorded;
  CHECK(recorded.found({"a/one"}) == "a/one ");
  std::filesystem::create_symlink("loop.jsonl", recorded.folder.path / "a/loop.jsonl");
  CHECK(recorded.found({"a"}) == "a/one a/three a/two ");
}

TEST_CASE("a name that has the letters of a pattern is a name first") {
  const Recorded recorded;
  recorded.log("c/[x]");
  CHECK(recorded.found({"c/[x].jsonl"}) == "c/[x] ");
}

TEST_CASE("what is not there, and what is no run") {
  const Recorded recorded;
  CHECK(recorded.complaint({"missing"}).find("there is no file or folder ") == 0);
  CHECK(recorded.complaint({"a", "z*"}).find("the pattern ") == 0);
  CHECK(recorded.complaint({"b/broken.jsonl"}).find("broken.jsonl:1: not a line of a run log") !=
        std::string::npos);
  CHECK(recorded.complaint({"b/*.jsonl"}).find("broken.jsonl:1:") != std::string::npos);
  std::filesystem::create_directories(recorded.folder.path / "empty");
  CHECK(recorded.complaint({"empty"}).find("no recorded run (*.jsonl) in ") == 0);
  std::filesystem::create_directories(recorded.folder.path / "bad");
  std::filesystem::copy(recorded.folder / "b/broken.jsonl", recorded.folder / "bad/broken.jsonl");
  CHECK(recorded.complaint({"bad"}).find("none of the files in ") == 0);
}

TEST_CASE("a folder that may not be read is left out, and is named") {
  const Recorded recorded;
  const std::filesystem::path closed = recorded.folder.path / "a/closed";
  recorded.log("a/closed/one");
  std::filesystem::permissions(recorded.folder.path, std::filesystem::perms{0755});
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  std::ostringstream told;
  std::streambuf* const before = std::cerr.rdbuf(told.rdbuf());
  const bool was_root = geteuid() == 0;
  constexpr uid_t plain_user = 65534;
  const bool became_plain = !was_root || seteuid(plain_user) == 0;
  std::string found;
  if (became_plain) found = recorded.found({"a"});
  if (was_root && seteuid(0) != 0) std::abort();
  std::cerr.rdbuf(before);
  std::filesystem::permissions(closed, std::filesystem::perms::owner_all);
  REQUIRE(became_plain);
  CHECK(found == "a/one a/three a/two ");
  CHECK(told.str().find("left out: cannot read the folder ") == 0);
  CHECK(recorded.found({"a"}) == "a/closed/one a/one a/three a/two ");
}
