#include <tests/catch.h>
#include <tinymp/base/foreign_text.h>

using namespace tinymp;

TEST_CASE("an excerpt is short, and printable") {
  CHECK(excerpt("plain") == "plain");
  CHECK(excerpt("\x1b[2J\n\xc3\xa9") == "\\x1b[2J\\x0a\\xc3\\xa9");
  CHECK(excerpt(std::string(1000, 'a')) == std::string(80, 'a') + "...");
  CHECK(excerpt("abc", 3) == "abc");
  CHECK(excerpt("abcd", 3) == "abc...");
}

TEST_CASE("a text is cut between characters") {
  CHECK(cut_to("", 3).empty());
  CHECK(cut_to("abc", 3) == "abc");
  CHECK(cut_to("abcd", 3) == "ab…");
  CHECK(cut_to("äöü", 3) == "äöü");
  CHECK(cut_to("äöüß", 3) == "äö…");
  CHECK(cut_to("\x80\x80\x80\x80", 3) == "\x80\x80\x80\x80");  // one character that has no beginning
}

TEST_CASE("lowered and trimmed: ASCII letters, spaces and tabs alone") {
  CHECK(lowered("FP16 \xc3\x84z[Z]") == "fp16 \xc3\x84z[z]");
  CHECK(trimmed(" \t a b\t ") == "a b");
  CHECK(trimmed("\na") == "\na");
  CHECK(trimmed(" \t").empty());
}

TEST_CASE("how deep JSON is nested: brackets in quotes do not count") {
  const std::string open(64, '['), closed(64, ']');
  CHECK_FALSE(is_too_deep(open + closed));
  CHECK(is_too_deep("[" + open + closed + "]"));
  CHECK(is_too_deep(open + "{"));
  CHECK_FALSE(is_too_deep("\"" + open + open + "\""));
  CHECK_FALSE(is_too_deep("\"\\\"" + open + open + "\\\\\""));
  CHECK(is_too_deep("\"\\\\\"" + open + open));
  CHECK_FALSE(
      is_too_deep("[][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][]"
                  "[][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][]"));
  CHECK_FALSE(is_too_deep(std::string(100, ']')));
}
