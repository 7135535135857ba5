#include <lessons/lab/report/csv.h>
#include <lessons/lab/report/csv_number.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace tinymp;
using namespace tinymp::report;

namespace {

using Records = std::vector<std::vector<std::string>>;

Records records_of(const std::string& text) {
  std::istringstream in(text);
  CsvReader reader(in, "table.csv");
  Records records;
  for (std::vector<std::string> fields; reader.next(fields);) records.push_back(fields);
  return records;
}

std::string complaint(const std::string& text) {
  return files::message<Error>([&] { records_of(text); });
}

/// Fields as other programs write them: half of them in quotes, with all that a field in quotes may hold.
std::string some_table(std::uint64_t seed) {
  std::uint64_t state = seed;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  const std::array<const char*, 10> inside = {"a", ",", "\"\"", "\n", "\r\n",
                                              " ", "é", "1.5",  "\t", "=SUM(A1)"};
  const std::array<const char*, 6> plain = {"a", " ", "é", "1.5", "'", "x\"y"};
  const std::array<const char*, 3> ends = {"\n", "\r\n", "\r"};
  std::string text = draw(2) == 0 ? "\xEF\xBB\xBF" : "";
  for (std::uint64_t row = 0, rows = 1 + draw(5); row < rows; ++row) {
    for (std::uint64_t field = 0, fields = 1 + draw(5); field < fields; ++field) {
      if (field > 0) text += ',';
      const bool quoted = draw(2) == 0;
      if (quoted) text += '"';
      for (std::uint64_t piece = draw(5); piece > 0; --piece)
        text += quoted ? inside[draw(inside.size())] : plain[1 + draw(plain.size() - 1)];
      if (quoted) text += '"';
    }
    if (row + 1 < rows || draw(2) == 0) text += ends[draw(ends.size())];
  }
  return text;
}

}  // namespace

TEST_CASE("records as RFC 4180 has them") {
  CHECK(records_of("a,b\n1,2\n") == Records{{"a", "b"}, {"1", "2"}});
  CHECK(records_of("a,b\r\n1,2") == Records{{"a", "b"}, {"1", "2"}});
  CHECK(records_of("a,b\r1,2\r") == Records{{"a", "b"}, {"1", "2"}});
  CHECK(records_of("\xEF\xBB\xBF"
                   "a\n") == Records{{"a"}});
  CHECK(records_of(",\n") == Records{{"", ""}});
  CHECK(records_of("a,") == Records{{"a", ""}});
  CHECK(records_of("\n\r\n\na\n\n") == Records{{"a"}});
  CHECK(records_of("\"a,\"\"b\"\"\r\nc\",d\n") == Records{{"a,\"b\"\r\nc", "d"}});
  CHECK(records_of("\"\",\"\"") == Records{{"", ""}});
  CHECK(records_of("a\"b,c") == Records{{"a\"b", "c"}});
  CHECK(records_of("").empty());
  CHECK(records_of(std::string("a\0b,c", 5)) == Records{{std::string("a\0b", 3), "c"}});
}

TEST_CASE("a table that is none: the message names the line where its record begins") {
  CHECK(complaint("a\n\"b\nc\n") == "table.csv:2: a quote is not closed");
  CHECK(complaint("a\r\n\r\n\"b\r\nc\"\r\rd\n\"") == "table.csv:7: a quote is not closed");
  CHECK(complaint("a\n\"b\nc\"\n\"d\"e\n") == "table.csv:4: text follows a closing quote");
  CHECK(complaint(std::string(2 << 20, 'x')).find("table.csv:1: a record of more than 1 MB") == 0);
  CHECK(complaint("a\n\"" + std::string(2 << 20, '\n')).find("table.csv:2: a record of more than 1 MB") == 0);
  CHECK(complaint(std::string(5000, ',')) == "table.csv:1: more than 1000 fields");
}

TEST_CASE("a field that is written reads back") {
  for (const std::string field :
       {"", "a", "a,b", "\"", " a", "a ", "a\r\nb", "=1+1", "-1", "\"a\",\"b\"", "\r", "é"})
    CHECK(records_of(csv_field(field) + ",x") == Records{{field, "x"}});
  CHECK(csv_field("plain text") == "plain text");
}

TEST_CASE("tables read as Python's csv module reads them") {
  const files::Folder folder;
  Records mine;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string text = some_table(seed);
    std::ofstream(folder / (std::to_string(seed) + ".csv"), std::ios::binary) << text;
    for (std::vector<std::string>& record : records_of(text)) mine.push_back(std::move(record));
  }
  std::ofstream(folder / "read.py")
      << "import csv, json, sys\n"
         "rows = []\n"
         "for n in range(1, 301):\n"
         "  with open(f'{sys.argv[1]}/{n}.csv', newline='', encoding='utf-8-sig') as f:\n"
         "    rows += [row for row in csv.reader(f, strict=True) if row]\n"
         "json.dump(rows, sys.stdout)\n";
  const std::string command =
      "python3 '" + (folder / "read.py") + "' '" + folder.path.string() + "' 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(popen(command.c_str(), "r"), pclose);
  REQUIRE(out);
  std::string text;
  std::array<char, 4096> block{};
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), out.get()))
    text.append(block.data(), got);
  if (text.empty()) SKIP_TEST("no python3");
  const Records theirs = nlohmann::json::parse(text).get<Records>();
  REQUIRE(theirs.size() == mine.size());
  CHECK(theirs == mine);
}

TEST_CASE("numbers as other programs write them") {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  for (const auto& [text, value] : {std::pair<const char*, double>{"0.25", 0.25},
                                    {" 7\t", 7},
                                    {"+1e-3", 1e-3},
                                    {"-.5", -.5},
                                    {"5.", 5},
                                    {"007", 7},
                                    {"-0", -0.0},
                                    {"1e308", 1e308},
                                    {"1e999", INFINITY},
                                    {"-1e999", -INFINITY},
                                    {"1e-999", 0},
                                    {"inf", INFINITY},
                                    {"-Infinity", -INFINITY},
                                    {"+INF", INFINITY},
                                    {"-1.#INF", -INFINITY}}) {
    INFO(text);
    REQUIRE(csv_number(text));
    CHECK(bits(*csv_number(text)) == bits(value));
  }
  for (const char* const text : {"nan", "NaN", "-nan", "NAN", "1.#QNAN", "-1.#IND"}) {
    REQUIRE(csv_number(text));
    CHECK(std::isnan(*csv_number(text)));
  }
  for (const char* const text :
       {"", "x", "1x", "0x10", "1,5", "--1", "+-1", "1 2", "e5", "nano", "in", ".", "1e", "+"}) {
    INFO(text);
    CHECK_FALSE(csv_number(text));
  }
  for (const char* const text : {"", " ", "NA", "n/a", "None", "NULL", "-"}) CHECK(is_missing(text));
  for (const char* const text : {"0", "nan", "--", "nil"}) CHECK_FALSE(is_missing(text));
}
