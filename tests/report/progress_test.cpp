#include <lessons/lab/report/progress.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/report/pseudo_terminal.h>
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

using namespace tinymp::report;
using files::Environment;

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File stream_of(const PseudoTerminal& terminal) { return {fdopen(dup(terminal.fd()), "w"), std::fclose}; }

struct Utf8 {
  Environment all{"LC_ALL", "C.UTF-8"}, no_colour{"NO_COLOR", "1"}, term{"TERM", "xterm"};
};

}  // namespace

TEST_CASE("a bar on a terminal shows name, step, loss, scale") {
  const Utf8 locale;
  PseudoTerminal terminal(80);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal);
  Progress bar(out.get(), "FP16, S = 1024", 400);
  CHECK(terminal.read_back().empty());
  bar.update(100, 0.07412345, 1024);
  CHECK(terminal.read_back() ==
        "\rFP16, S = 1024  ━━━━━━━───────────────────────  100/400  loss 0.07412  S 1024");
  bar.update(101, 0.07, 1024);  // at once after the first: not drawn
  CHECK(terminal.read_back().empty());
  bar.finish();
  const std::string last = terminal.read_back();
  CHECK(last.rfind("\rFP16, S = 1024  ━━━━━", 0) == 0);
  CHECK(last.find("101/400  loss 0.07  S 1024  0.0 s") != std::string::npos);
  CHECK(last.substr(last.size() - 2) == "\r\n");
  CHECK(last.find('\x1b') == std::string::npos);  // NO_COLOR
}

TEST_CASE("a bar redraws ten times a second at most, and tells the time left") {
  const Utf8 locale;
  PseudoTerminal terminal(100);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal);
  Progress bar(out.get(), "FP32", 1000);
  const auto start = std::chrono::steady_clock::now();
  std::int64_t step = 0;
  std::string text;
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(900)) {
    bar.update(step = std::min<std::int64_t>(step + 1, 500), 0.5);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    text += terminal.read_back();
  }
  const auto drawn = std::count(text.begin(), text.end(), '\r');
  CHECK(drawn >= 2);
  CHECK(drawn <= 11);
  CHECK(text.find(" s left") != std::string::npos);
  CHECK(text.find("  S ") == std::string::npos);  // a scale of 1 is not worth a word
}

TEST_CASE("a bar keeps to a narrow terminal and wipes what was longer") {
  const Utf8 locale;
  PseudoTerminal terminal(60);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal);
  Progress bar(out.get(), "a name that is longer than anyone should need", 10);
  bar.update(1, 123456.0, 65536);
  terminal.resize(20);
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  terminal.read_back();
  bar.update(2, 1.0);
  const std::string text = terminal.read_back();
  CHECK(text == "\ra name that is l…");
  CHECK(display_width(text.substr(1)) == 20 - 3);  // the ^C of Ctrl-C fits behind it
}

TEST_CASE("a shorter line leaves nothing of a longer one") {
  const Utf8 locale;
  PseudoTerminal terminal(120);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal);
  Progress bar(out.get(), "FP32", 10);
  bar.update(1, 0.12345678, 65536);
  const std::string longer = terminal.read_back();
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  bar.update(2, 1.0);
  const std::string shorter = terminal.read_back();
  CHECK(shorter.find("2/10  loss 1 ") != std::string::npos);
  CHECK(display_width(shorter) == display_width(longer));
}

TEST_CASE("in ASCII the bar is ASCII") {
  const Environment all("LC_ALL", "C"), no_colour("NO_COLOR", "1");
  PseudoTerminal terminal(60);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal);
  Progress bar(out.get(), "FP16 · größer", 4);
  bar.update(2, 1.5);
  CHECK(terminal.read_back() == "\rFP16 . gr??er  =============..............  2/4  loss 1.5");
}

TEST_CASE("a bar that is left by an exception ends its line") {
  const Utf8 locale;
  PseudoTerminal terminal(60);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal);
  {
    Progress bar(out.get(), "FP32", 10);
    bar.update(1, 1.0);
  }
  std::fflush(out.get());
  const std::string text = terminal.read_back();
  CHECK(text.substr(text.size() - 2) == "\r\n");
}

TEST_CASE("where there is no terminal a bar is silent") {
  const files::Folder folder;
  const std::string path = folder / "log";
  {
    const File out(std::fopen(path.c_str(), "w"), std::fclose);
    Progress bar(out.get(), "FP32", 10);
    for (int step = 1; step <= 10; ++step) bar.update(step, 1.0);
    bar.finish();
  }
  CHECK(std::filesystem::file_size(path) == 0);
}
