#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <tests/catch.h>
#include <unistd.h>

#include <lessons/lab/classroom/descendants.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/programs.h>
#include <lessons/lab/classroom/refusals.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/verdict.h>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

// The texts in forgeries/: each wants a verdict without the work, and says in its first lines what it tries
// and which defence stops it:
//
//     filter   why_refused refuses it; judged all the same it passes
//     link     why_refused refuses it; judged all the same it finds nothing to take, since it is linked
//              without the objects that it replaces and, in most exercises, without the emulated kernels
//     fence    it reaches for other programs or files; without a fence it passes
//     server   the program with the answer in it has nothing to take
//     process  such a text passed where check and answer ran in one process; that cannot be switched on again
//
// A line "//@ stub" stands for the exercise's stub, "//@ NAME" for forgeries/shared/NAME.txt. NEIGHBOUR is a
// folder of somebody whose answer, program and pipes may be read by anybody.
namespace tinymp::test {
namespace {

using namespace classroom;
namespace fs = std::filesystem;

struct Forgery {
  std::string name, defence;
  Exercise exercise;
  std::string text;
};

fs::path folder() { return source_folder() / "tests/classroom/forgeries"; }

std::string line_after(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find("// " + mark + ": ");
  REQUIRE(at != text.npos);
  const std::size_t begin = at + mark.size() + 5;
  return text.substr(begin, text.find('\n', begin) - begin);
}

Forgery forgery(const fs::path& path) {
  const std::string raw = read_file(path);
  Forgery found{path.stem().string(), line_after(raw, "defence"),
                exercises_named(line_after(raw, "exercise")).front(), ""};
  std::size_t begin = 0;
  while (begin < raw.size()) {  // no getline: what a line is, is what some of these are about
    const std::size_t end = std::min(raw.find('\n', begin), raw.size() - 1) + 1;
    const std::string line = raw.substr(begin, end - begin);
    const std::string word = line.starts_with("//@ ") ? line.substr(4, line.size() - 5) : "";
    if (word == "stub")
      found.text += read_file(found.exercise.stub());
    else
      found.text += word.empty() ? line : read_file(folder() / "shared" / (word + ".txt"));
    begin = end;
  }
  return found;
}

std::vector<Forgery> forgeries(const std::set<std::string>& defences) {
  std::vector<Forgery> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder()))
    if (entry.path().extension() == ".txt")
      if (Forgery one = forgery(entry.path()); defences.contains(one.defence)) all.push_back(std::move(one));
  std::ranges::sort(all, {}, &Forgery::name);
  return all;
}

void replace_all(std::string& text, const std::string& word, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += by.size())
    text.replace(at, word.size(), by);
}

/// Somebody who was right: their answer, the program made of it, and that program as a friend who can be
/// asked over a network, over a socket with a name, or through pipes.
class Neighbour {
 public:
  explicit Neighbour(const Exercise& exercise) : scratch_("neighbour") {
    const std::string reference = exercise.reference();
    REQUIRE(judge(exercise, reference, "answer.h", at()).passed());
    write_file(at() / "answer", reference);
    fs::permissions(at(), fs::perms::all);
    for (const char* const pipe : {"to", "from"}) {
      REQUIRE(mkfifo((at() / pipe).c_str(), 0666) == 0);
      fs::permissions(at() / pipe, fs::perms(0666));
    }
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  ~Neighbour() {
    if (friend_ <= 0) return;
    kill(friend_, SIGKILL);
    waitpid(friend_, nullptr, 0);
  }
  const fs::path& at() const { return scratch_.path(); }
  bool waits() const { return friend_ > 0; }

  void put_into(std::string& text) {
    if (text.find("PORT") != text.npos) {
      sockaddr_in here{};
      here.sin_family = AF_INET;
      here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof here;
      const int file = listening(AF_INET, reinterpret_cast<sockaddr*>(&here), size);
      getsockname(file, reinterpret_cast<sockaddr*>(&here), &size);
      replace_all(text, "PORT", std::to_string(ntohs(here.sin_port)));
      serve([file] {
        const int there = accept(file, nullptr, nullptr);
        return std::pair(there, there);
      });
      close(file);
    } else if (text.find("\"NAME\"") != text.npos) {
      const std::string name = "tinymp-friend-" + std::to_string(getpid());
      sockaddr_un here{};
      here.sun_family = AF_UNIX;
      name.copy(here.sun_path + 1, name.size());
      const int file = listening(AF_UNIX, reinterpret_cast<sockaddr*>(&here),
                                 static_cast<socklen_t>(sizeof here.sun_family + 1 + name.size()));
      replace_all(text, "\"NAME\"", '"' + name + '"');
      serve([file] {
        const int there = accept(file, nullptr, nullptr);
        return std::pair(there, there);
      });
      close(file);
    } else if (text.find("NEIGHBOUR/to") != text.npos) {
      serve([this] {
        const int to = open((at() / "to").c_str(), O_RDONLY);
        return std::pair(to, open((at() / "from").c_str(), O_WRONLY));
      });
    }
    replace_all(text, "NEIGHBOUR", at().string());
  }

 private:
  static int listening(int family, const sockaddr* here, socklen_t size) {
    const int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(file, here, size) == 0);
    REQUIRE(listen(file, 1) == 0);
    return file;
  }
  template <class Meet>
  void serve(const Meet& meet) {
    friend_ = fork();
    REQUIRE(friend_ >= 0);
    if (friend_ != 0) return;
    const auto [asked, told] = meet();
    const int out = fcntl(told, F_DUPFD, 20);
    dup2(asked, 0);
    dup2(out, 3);
    execl((at() / "check").c_str(), "check", nullptr);
    _exit(127);
  }

  ScratchFolder scratch_;
  pid_t friend_ = 0;
};

/// How often: some do harm to the next judging.
int times(const Forgery& one) {
  return one.name.find("another_judge") != one.name.npos || one.name.find("the_next") != one.name.npos ? 2
                                                                                                       : 1;
}

/// The last verdict.
Verdict judged(const Forgery& one, Fence fence) {
  const ScratchFolder scratch("forgeries"), own("judge");
  std::string text = one.text;
  std::optional<Neighbour> neighbour;
  if (text.find("NEIGHBOUR") != text.npos || text.find("ask_friend(there") != text.npos) {
    neighbour.emplace(one.exercise);
    neighbour->put_into(text);
  }
  Exercise exercise = one.exercise;
  if (times(one) > 1) {  // a judge of its own, which others do not use
    fs::copy(exercise.folder, own.path() / "exercise", fs::copy_options::recursive);
    exercise.folder = own.path() / "exercise";
    write_file(exercise.folder / "check.cpp",
               read_file(exercise.folder / "check.cpp") + "// " + std::to_string(getpid()));
  }
  Verdict verdict;
  for (int i = 0; i < times(one); ++i) {
    verdict = judge(exercise, text, "answer.h", scratch.path(), {.run = 30}, fence);
    if (fence != Fence::none) CHECK(descendants().size() == (neighbour && neighbour->waits() ? 1 : 0));
  }
  neighbour.reset();
  end_descendants_but({});
  if (times(one) > 1) {
    fs::remove(judge_of(exercise, {}));
    fs::remove(library_of(exercise, {}));
  }
  return verdict;
}

void pass_without_defence(const std::string& defence) {
  for (const Forgery& one : forgeries({defence})) {
    const Verdict verdict = judged(one, Fence::none);
    CAPTURE(one.name, verdict.message, verdict.printed);
    CHECK(verdict.passed());
  }
}

void fail_behind(Fence fence) {
  const ScratchFolder scratch("fence");
  if (run({"/bin/sh", "-c", "exit 0"}, {.seconds = 10}, {fence, scratch.path()}).code != 0)
    SKIP_TEST((name_of(fence) + " does not work on this machine").c_str());
  for (const Forgery& one : forgeries({"fence", "server", "process"})) {
    const Verdict verdict = judged(one, fence);
    CAPTURE(one.name, verdict.message, verdict.printed);
    CHECK_FALSE(verdict.passed());
    CHECK(verdict.outcome != Verdict::Outcome::machine);
  }
}

}  // namespace

TEST_CASE("forgeries: each names its exercise and its defence, and the filters refuse what is theirs") {
  std::set<std::string> exercises;
  std::map<std::string, int> texts;
  for (const Forgery& one : forgeries({"filter", "link", "fence", "server", "process"})) {
    INFO(one.name);
    exercises.insert(one.exercise.number());
    ++texts[one.defence];
    if (one.defence == "filter" || one.defence == "link")
      CHECK_FALSE(why_refused(one.text, one.exercise.without).empty());
    if (one.defence == "server") CHECK(why_refused(one.text, one.exercise.without).empty());
  }
  CHECK(texts["filter"] + texts["link"] + texts["fence"] >= 30);
  CHECK(texts["filter"] + texts["link"] + texts["fence"] + texts["server"] + texts["process"] >= 45);
  for (const char* const number : {"2.1", "2.2", "4.4", "9.2"}) CHECK(exercises.contains(number));
  CHECK(exercises.size() >= 18);
}

TEST_CASE("forgeries: what the filters refuse passes without them", "[exhaustive]") {
  pass_without_defence("filter");
}
TEST_CASE("forgeries: what the filters refuse finds nothing to link with", "[exhaustive]") {
  for (const Forgery& one : forgeries({"link"})) {
    const Verdict verdict = judged(one, Fence::none);
    CAPTURE(one.name, verdict.message, verdict.printed);
    CHECK_FALSE(verdict.passed());
    CHECK(verdict.message.find("nothing defines") != std::string::npos);
  }
}
TEST_CASE("forgeries: what the fence stops passes without one", "[exhaustive]") {
  pass_without_defence("fence");
}
TEST_CASE("forgeries: behind bubblewrap none passes", "[exhaustive]") { fail_behind(Fence::bubblewrap); }
TEST_CASE("forgeries: behind Landlock none passes", "[exhaustive]") { fail_behind(Fence::landlock); }

}  // namespace tinymp::test
