#include <lessons/lab/report/csv.h>
#include <tinymp/base/error.h>
#include <utility>

namespace tinymp::report {
namespace {

constexpr int end = std::char_traits<char>::eof();
constexpr std::size_t most_bytes = std::size_t{1} << 20, most_fields = 1000;  // of one record

}  // namespace

CsvReader::CsvReader(std::istream& in, std::string name) : in_(in.rdbuf()), name_(std::move(name)) {
  for (const int byte : {0xEF, 0xBB, 0xBF}) {  // the byte order mark of UTF-8
    if (in_->sgetc() != byte) break;
    in_->sbumpc();
  }
}

std::string CsvReader::place() const { return concat(name_, ":", first_line_); }

void CsvReader::fail(const std::string& what) const { throw Error(concat(place(), ": ", what)); }

int CsvReader::get() {
  const int c = in_->sbumpc();
  if (c != end && ++bytes_ > most_bytes)
    fail(concat("a record of more than ", most_bytes >> 20, " MB; is a quote not closed?"));
  return c;
}

/// True for a line end, of which it takes all: LF, CR LF or CR.
bool CsvReader::end_of_line(int c) {
  if (c != '\n' && c != '\r') return false;
  if (c == '\r' && in_->sgetc() == '\n') get();
  ++line_;
  return true;
}

/// The field behind an opening quote.
void CsvReader::quoted(std::string& field) {
  for (;;) {
    const int c = get();
    if (c == end) fail("a quote is not closed");
    if (c == '"' && in_->sgetc() != '"') return;
    if (c == '"') get();
    if (c == '\n' || (c == '\r' && in_->sgetc() != '\n')) ++line_;
    field += static_cast<char>(c);
  }
}

/// The rest of a field from `c` on. Returns true when a comma ends it, so that another field follows.
bool CsvReader::plain(int c, std::string& field) {
  while (c != end && c != ',' && !end_of_line(c)) {
    field += static_cast<char>(c);
    c = get();
  }
  return c == ',';
}

bool CsvReader::next(std::vector<std::string>& fields) {
  fields.clear();
  int c = end;
  do {
    first_line_ = line_;
    bytes_ = 0;
    c = get();
    if (c == end) return false;
  } while (end_of_line(c));
  for (bool goes_on = true; goes_on; c = goes_on ? get() : end) {
    if (fields.size() == most_fields) fail(concat("more than ", most_fields, " fields"));
    std::string& field = fields.emplace_back();
    if (c != '"') {
      goes_on = plain(c, field);
      continue;
    }
    quoted(field);
    std::string behind;
    goes_on = plain(get(), behind);
    if (!behind.empty()) fail("text follows a closing quote");
  }
  return true;
}

std::string csv_field(std::string_view text) {
  const bool has_space = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!has_space && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace tinymp::report
