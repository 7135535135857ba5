#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Turns a text into numbers for a language model: tokens, a vocabulary, and blocks of tokens with the tokens
/// that follow them.
namespace tinymp::data {

enum class TextUnit : std::uint8_t {
  /// A run of letters, digits and apostrophes is a word. Any other visible character is a token by itself.
  /// Space and line ends separate tokens. A to Z become a to z; letters beyond ASCII stay as they are.
  word,
  /// Every character of the UTF-8 is a token, space and line end too.
  character,
};

std::vector<std::string> tokens_of(std::string_view text, TextUnit unit);

/// A text as numbers, split by position: the first nine tenths of the tokens are for
/// training, the rest for validation.
struct Text {
  std::string name;  ///< "text"
  /// The token of each number. 0 is "<unk>", for all tokens without a number. The others are the most
  /// frequent tokens of the training part, by falling frequency and then by their bytes.
  std::vector<std::string> vocabulary;
  std::vector<std::int32_t> train, validation;
};

/// `vocabulary` is the largest number of tokens, <unk> included. Throws UsageError unless it is at least 2
/// and fits 32 bits, Error when one of the parts would hold no token.
Text text_from(std::string name, std::string_view text, std::int64_t vocabulary,
               TextUnit unit = TextUnit::word);

/// The same for a file, plain or in gzip. Throws MissingError when the file does not exist, Error when it is
/// no UTF-8 or holds a zero byte.
Text read_text(const std::string& path, std::int64_t vocabulary, TextUnit unit = TextUnit::word);

/// Loads "text": Shakespeare's plays, 1.1 MB (Karpathy's tinyshakespeare.txt). It looks for text/ where
/// load_images looks for images. Throws MissingError naming every place and the command that fetches it.
Text load_text(std::int64_t vocabulary, TextUnit unit = TextUnit::word);

/// "text (183,000 train, 20,000 validation tokens, vocabulary 8192)", without the commas
std::string describe(const Text& text);

/// B rows of T tokens, and for each token the one that follows it in the text.
struct TextBlock {
  std::int64_t rows = 0, steps = 0;               ///< B, T
  std::vector<std::int32_t> tokens{}, targets{};  ///< (B,T), row after row
  bool first = false;                             ///< the streams begin here: forget a carried state
};

/// Cuts a part of a text into B streams of equal length, one for each row, and returns T tokens of each:
///
///   tokens 0 1 2 ... 24, B = 2, T = 5:   row 0 reads 0..4, then 5..9;  row 1 reads 12..16, then 17..21
///
/// Row b of a block continues row b of the block before, so a recurrent state may be carried over (without
/// its gradient). When `first` is true it may not, because the streams begin again. Nothing is random: a seed
/// changes the first weights alone. Tokens that fill no block at the end of a
/// stream (10 and 11 above) are left out.
class TextLoader {
 public:
  /// Keeps a view of `tokens`. Throws UsageError unless at least one block can be made.
  TextLoader(std::span<const std::int32_t> tokens, std::int64_t rows, std::int64_t steps);
  TextLoader(std::vector<std::int32_t>&&, std::int64_t, std::int64_t) = delete;  // the view would dangle

  TextBlock next();
  std::int64_t epoch() const { return epoch_; }  ///< the epoch of the block that next() returns, from 0
  std::int64_t blocks_per_epoch() const { return (stream_ - 1) / steps_; }

 private:
  std::span<const std::int32_t> tokens_;
  std::int64_t rows_, steps_, stream_;  ///< stream_: tokens of a row, one more than it reads
  std::int64_t epoch_ = 0, drawn_ = 0;
};

}  // namespace tinymp::data
