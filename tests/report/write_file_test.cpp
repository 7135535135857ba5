#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <lessons/lab/report/write_file.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

namespace tinymp::test {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a written file: not over what is read, a run or a checkpoint") {
  const files::Folder folder;
  const std::string picture = folder / "seven.png", log = folder / "run.jsonl", table = folder / "table.csv";
  for (const std::string& path : {picture, log, table}) std::ofstream(path) << "x";
  fs::create_symlink("seven.png", folder / "link");
  const std::vector<std::string> read{picture, folder / "none"};
  CHECK_SAYS("--json", report::expect_no_input(picture, "--json", read));
  CHECK_SAYS("this file is read", report::expect_no_input(folder / "link", "--json", read));
  CHECK_SAYS("a recorded run lies there", report::expect_no_input(log, "--csv", read));
  for (const std::string& path : {table, folder / "new.jsonl", std::string()})
    CHECK_NOTHROW(report::expect_no_input(path, "--csv", read));
}

TEST_CASE("a written file: a pipe without a reader is an error, not a wait") {
  const files::Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_SAYS(pipe, report::write_whole(pipe, "text", "the table"));
  REQUIRE(mkfifo((folder / "page.part").c_str(), 0600) == 0);
  CHECK_SAYS("page", report::write_whole(folder / "page", "text", "the page"));
}

TEST_CASE("a written file: a link stays a link, and what it leads to changes") {
  const files::Folder folder;
  const std::string target = folder / "target", link = folder / "link";
  std::ofstream(target) << "old";
  fs::create_symlink("target", link);
  report::write_whole(link, "new", "the table");
  CHECK(fs::is_symlink(link));
  CHECK(contents(target) == "new");
  CHECK_FALSE(fs::exists(target + ".part"));
}

TEST_CASE("a written file: a link that leads nowhere makes the file that it names") {
  const files::Folder folder;
  const std::string link = folder / "link";
  fs::create_symlink("target", link);
  report::write_whole(link, "new", "the table");
  CHECK(fs::is_symlink(link));
  CHECK(contents(folder / "target") == "new");
}

TEST_CASE("a written file: what goes to standard output as well stands behind what was printed") {
  const files::Folder folder;
  const std::string all = folder / "all";
  std::ofstream(all) << "before\n";
  std::cout.flush();
  const int usual = dup(STDOUT_FILENO), file = open(all.c_str(), O_WRONLY | O_APPEND);
  REQUIRE(usual >= 0);
  REQUIRE(file >= 0);
  dup2(file, STDOUT_FILENO);
  std::cout << "printed\n";
  report::write_whole(all, "text\n", "the table");
  std::cout << "after\n" << std::flush;
  dup2(usual, STDOUT_FILENO);
  close(usual);
  close(file);
  CHECK(contents(all) == "before\nprinted\ntext\nafter\n");
}

TEST_CASE("a written file: a pipe and a device are written to, and stay") {
  const files::Folder folder;
  const std::string full = folder / "full";  // not the machine's own: as root a fault would replace it
  if (mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) == 0 && access("/dev/full", W_OK) == 0) {
    try {
      report::write_whole(full, "text", "the table");
    } catch (const Error& error) {  // some file systems hold no devices that work
      CHECK(std::string(error.what()).find("cannot write the table " + full) == 0);
    }
    CHECK(fs::is_character_file(full));
  }
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = contents(pipe); });
  report::write_whole(pipe, "text", "the table");
  reader.join();
  CHECK(read == "text");
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("a written file: where it cannot be written, the message names the flag") {
  const files::Folder folder;
  CHECK_SAYS("make its folder first, or write elsewhere: --csv FILE",
             report::write_whole(folder / "none/x.csv", "text", "the table", "--csv FILE"));
  CHECK_SAYS("Is a directory", report::write_whole(folder.path.string(), "text", "the table"));
}

}  // namespace tinymp::test
