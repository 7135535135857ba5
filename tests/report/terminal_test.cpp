#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <lessons/lab/report/number.h>
#include <lessons/lab/report/terminal.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/report/pseudo_terminal.h>
#include <chrono>
#include <limits>

using namespace tinymp::report;
using files::Environment;

TEST_CASE("columns of a text") {
  CHECK(display_width("") == 0);
  CHECK(display_width("FP16, S = 1") == 11);
  CHECK(display_width("größer") == 6);
  CHECK(display_width("e\xCC\x81") == 1);  // e and a combining accent
  CHECK(display_width("日本語") == 6);
  CHECK(display_width("😀") == 2);
  CHECK(display_width("●▲■◆○△□━─│┤✗") == 12);
  CHECK(display_width("\xFF\xFE") == 2);  // stray bytes: one replacement character each
}

TEST_CASE("UTF-8 that is none is never passed on") {
  CHECK(printable("a\xC0\xAF"
                  "b",
                  true) == "a??b");                      // over-long
  CHECK(printable("\xED\xA0\x80", true) == "???");       // a surrogate
  CHECK(printable("\xF4\x90\x80\x80", true) == "????");  // above U+10FFFF
  CHECK(printable("\xE2\x82", true) == "??");            // cut short
  CHECK(printable("2² · 3 × 4 → “x” …", true) == "2² · 3 × 4 → “x” …");
  CHECK(printable("2² · 3 × 4 → x …", false) == "2^2 . 3 x 4 -> x ...");
  CHECK(printable("a\x1b]0;title\x07\x7f", true) == "a?]0;title??");
}

TEST_CASE("shortening and wrapping keep to the columns") {
  CHECK(shorten("FP16 weights", 12, true) == "FP16 weights");
  CHECK(shorten("FP16 weights", 8, true) == "FP16 we…");
  CHECK(shorten("FP16 weights", 8, false) == "FP16 we~");
  CHECK(shorten("日本語", 4, true) == "日…");
  CHECK(shorten("abc", 0, true).empty());
  CHECK(wrap("", 10) == std::vector<std::string>{""});
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("one  two", 4) == std::vector<std::string>{"one", "two"});
  CHECK(wrap("abcdefghij kl", 4) == std::vector<std::string>{"abcd", "efgh", "ij", "kl"});
  CHECK(wrap("fp16_dynamic, on", 8) == std::vector<std::string>{"fp16_", "dynamic,", "on"});
  CHECK(wrap("runs/quickstart-001/fp16", 11) == std::vector<std::string>{"runs/", "quickstart-", "001/fp16"});
  CHECK(wrap("a  b-c", 3) == std::vector<std::string>{"a", "b-c"});
  CHECK(longest_piece("fp16_dynamic, on") == 8);
  CHECK(longest_piece("interrupted") == 11);
  CHECK(longest_piece("") == 0);
  CHECK(wrap("日本語", 1) == std::vector<std::string>{"日", "本", "語"});
  CHECK(pad("é", 3) == "é  ");
  CHECK(pad("é", 3, Align::right) == "  é");
  CHECK(pad("long", 2) == "long");
}

TEST_CASE("a word of half a million letters is wrapped at once", "[repeats]") {
  const auto began = std::chrono::steady_clock::now();
  for (const std::string& letter : {std::string("x"), std::string("\u0301"), std::string("漢")}) {
    std::string word;
    for (int i = 0; i < 500'000; ++i) word += letter;
    std::string joined;
    for (const std::string& line : wrap("a " + word + "  b", 10)) joined += line;
    CHECK(joined.find(word) != std::string::npos);
  }
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(30));
}

TEST_CASE("what a terminal can do is read from the environment") {
  const Environment all("LC_ALL", nullptr), ctype("LC_CTYPE", nullptr), lang("LANG", "de_DE.UTF-8");
  const Environment no_colour("NO_COLOR", nullptr), term("TERM", "xterm-256color");
  PseudoTerminal terminal(123);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");

  const TerminalStyle style = terminal_style(terminal.fd());
  CHECK(style.unicode);
  CHECK(style.colour);
  CHECK(style.width == 123);
  const TerminalStyle plain = terminal_style(terminal.fd(), true);
  CHECK_FALSE(plain.unicode);
  CHECK_FALSE(plain.colour);
  {
    const Environment set("NO_COLOR", "1");
    CHECK_FALSE(terminal_style(terminal.fd()).colour);
  }
  {
    const Environment empty("NO_COLOR", "");  // no-color.org: when present and not an empty string
    CHECK(terminal_style(terminal.fd()).colour);
  }
  {
    const Environment dumb("TERM", "dumb");
    CHECK_FALSE(terminal_style(terminal.fd()).colour);
  }
  for (const char* locale : {"C", "POSIX", "de_DE.ISO-8859-1"}) {
    const Environment set("LC_ALL", locale);
    CHECK_FALSE(terminal_style(terminal.fd()).unicode);
  }
  {
    const Environment set("LC_CTYPE", "C.utf8"), other("LANG", "C");
    CHECK(terminal_style(terminal.fd()).unicode);
  }
}

TEST_CASE("a file is no terminal: no colour, 80 columns") {
  const files::Folder folder;
  const int fd = ::open((folder / "file").c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(fd >= 0);
  CHECK_FALSE(terminal_style(fd).colour);
  CHECK(terminal_style(fd).width == 80);
  close(fd);
}

TEST_CASE("colour is only ever added where it was asked for") {
  CHECK(paint("x", 1, {.colour = false}) == "x");
  CHECK(paint("x", 1, {.colour = true}) == "\x1b[38;5;166mx\x1b[0m");
  CHECK(paint("x", 0, {.colour = true}) == "x");
  CHECK(bold("x", {.colour = true}) == "\x1b[1mx\x1b[0m");
}

TEST_CASE("numbers as a reader wants them") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(short_number(0.07351) == "0.0735");
  CHECK(short_number(-infinity) == "-inf");
  CHECK(fixed_digits(0.042) == "0.04200");
  CHECK(fixed_digits(93.9) == "93.90");
  CHECK(metric_text(0.042) == "0.0420");
  CHECK(metric_text(-9.9994) == "-10.0");
  CHECK(metric_text(93.884) == "93.88");
  CHECK(fixed_digits(-std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(percent(0) == "0 %");
  CHECK(percent(1) == "100 %");
  CHECK(percent(0.9997) == ">99.9 %");
  CHECK(percent(0.9949) == "99.5 %");
  CHECK(percent(0.5) == "50 %");
  CHECK(percent(0.0042) == "0.4 %");
  CHECK(percent(0.00001) == "<0.1 %");
  CHECK(scale_text(1) == "1");
  CHECK(scale_text(65536) == "65536");
  CHECK(scale_text(0x1p24) == "2^24");
  CHECK(scale_text(0x1p-10) == "2^-10");
  CHECK(scale_text(0.25) == "0.25");
  CHECK(scale_text(1000) == "1000");
  CHECK(scale_text(3e8) == "3e+08");
  CHECK(scale_text(infinity) == "inf");
  CHECK(scale_text(0) == "0");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(999'499) == "999 kB");
  CHECK(bytes_text(999'600) == "1 MB");
  CHECK(bytes_text(4'210'000) == "4.21 MB");
  CHECK(duration(0.44) == "0.4 s");
  CHECK(duration(59.4) == "59 s");
  CHECK(duration(59.6) == "1 min 00 s");
  CHECK(duration(200) == "3 min 20 s");
  CHECK(duration(7500) == "2 h 05 min");
  CHECK(duration(infinity) == "?");
}
