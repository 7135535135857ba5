#include <tinymp/base/error.h>
#include <tinymp/data/find_files.h>
#include <tinymp/data/gzip.h>
#include <tinymp/data/text.h>
#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

namespace tinymp::data {
namespace {

constexpr const char* unknown = "<unk>";
constexpr std::array<const char*, 1> text_files = {"tinyshakespeare.txt"};
constexpr Source shakespeare{"text", "text", nullptr, "fetch it with ./learn data text", text_files};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Characters beyond ASCII count as letters, so that an accent does not cut a word in two.
bool is_word(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '\'' || static_cast<unsigned char>(c) >= 0x80;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The number of bytes of a character that begins with `first`; 0 when none does (RFC 3629, section 3).
std::size_t utf8_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 0;
}

/// The position of the first byte that belongs to no character, or npos.
std::size_t first_bad(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text[at]);
    if (text[at] == '\0' || length == 0 || at + length > text.size()) return at;
    for (std::size_t i = 1; i < length; ++i)
      if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return at;
    at += length;
  }
  return std::string_view::npos;
}

/// The most frequent tokens, "<unk>" before them.
std::vector<std::string> most_frequent(const std::vector<std::string>& tokens, std::size_t count,
                                       std::int64_t most) {
  std::unordered_map<std::string, std::int64_t> counts;
  for (std::size_t i = 0; i < count; ++i) ++counts[tokens[i]];
  counts.erase(unknown);  // a text may contain "<unk>"; its number is 0 then too
  std::vector<std::pair<std::string, std::int64_t>> order(counts.begin(), counts.end());
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> vocabulary = {unknown};
  for (const auto& [token, times] : order)
    if (static_cast<std::int64_t>(vocabulary.size()) < most) vocabulary.push_back(token);
  return vocabulary;
}

Text read(std::string name, const std::string& path, std::int64_t vocabulary, TextUnit unit,
          const std::string& mend) {
  constexpr std::size_t longest = std::size_t{256} << 20;
  const std::vector<std::uint8_t> bytes = read_maybe_gzip(path, mend, longest + 1);
  expect(bytes.size() <= longest, path, ": a text of more than ", longest >> 20, " MB; take a part of it");
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t bad = first_bad(text);
  if (bad != std::string_view::npos) throw Error(concat(path, ": byte ", bad, " is no UTF-8 text; ", mend));
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos)
    throw Error(concat(path, ": an empty text; ", mend));
  return text_from(std::move(name), text, vocabulary, unit);
}

}  // namespace

std::vector<std::string> tokens_of(std::string_view text, TextUnit unit) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + std::max<std::size_t>(1, utf8_length(text[at]));
    if (unit == TextUnit::word && is_space(text[at])) {
      ++at;
      continue;
    }
    if (unit == TextUnit::word && is_word(text[at]))
      while (end < text.size() && is_word(text[end])) ++end;
    std::string token(text.substr(at, end - at));
    if (unit == TextUnit::word) std::ranges::transform(token, token.begin(), lower);
    tokens.push_back(std::move(token));
    at = end;
  }
  return tokens;
}

Text text_from(std::string name, std::string_view text, std::int64_t vocabulary, TextUnit unit) {
  if (vocabulary < 2 || vocabulary > std::numeric_limits<std::int32_t>::max())
    throw UsageError(
        concat("a vocabulary of ", vocabulary, " tokens; choose 2 (<unk> and one more) to 2^31 - 1"));
  const std::vector<std::string> tokens = tokens_of(text, unit);
  const std::size_t train = tokens.size() * 9 / 10;
  expect(train > 0, name, ": a text of ", tokens.size(),
         " tokens is too short to be split; take one of 2 or more");
  Text read{std::move(name), most_frequent(tokens, train, vocabulary), {}, {}};
  std::unordered_map<std::string_view, std::int32_t> numbers;
  for (std::size_t i = 0; i < read.vocabulary.size(); ++i)
    numbers[read.vocabulary[i]] = static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto found = numbers.find(tokens[i]);
    (i < train ? read.train : read.validation).push_back(found == numbers.end() ? 0 : found->second);
  }
  return read;
}

Text read_text(const std::string& path, std::int64_t vocabulary, TextUnit unit) {
  return read(path.substr(path.find_last_of('/') + 1), path, vocabulary, unit,
              "choose a text in UTF-8, plain or in gzip");
}

Text load_text(std::int64_t vocabulary, TextUnit unit) {
  const std::filesystem::path folder = find_folder(shakespeare);
  return read(shakespeare.name, path_of(folder, text_files[0]), vocabulary, unit,
              mend_for(shakespeare, folder));
}

std::string describe(const Text& text) {
  return concat(text.name, " (", text.train.size(), " train, ", text.validation.size(),
                " validation tokens, vocabulary ", text.vocabulary.size(), ")");
}

TextLoader::TextLoader(std::span<const std::int32_t> tokens, std::int64_t rows, std::int64_t steps)
    : tokens_(tokens), rows_(rows), steps_(steps), stream_(0) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (rows >= 1) stream_ = count / rows;
  if (rows < 1 || steps < 1 || stream_ <= steps)
    throw UsageError(concat("no block of ", rows, " rows x ", steps, " steps can be cut from ", count,
                            " tokens; each row takes one token more than it has steps"));
}

TextBlock TextLoader::next() {
  TextBlock block{.rows = rows_, .steps = steps_, .first = drawn_ == 0};
  for (std::int64_t row = 0; row < rows_; ++row) {
    const auto begin = static_cast<std::size_t>(row * stream_ + drawn_ * steps_);
    const auto count = static_cast<std::size_t>(steps_);
    const std::span<const std::int32_t> read = tokens_.subspan(begin, count);
    const std::span<const std::int32_t> ahead = tokens_.subspan(begin + 1, count);
    block.tokens.insert(block.tokens.end(), read.begin(), read.end());
    block.targets.insert(block.targets.end(), ahead.begin(), ahead.end());
  }
  if (++drawn_ == blocks_per_epoch()) {
    drawn_ = 0;
    ++epoch_;
  }
  return block;
}

}  // namespace tinymp::data
