#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// From a text to what a language model sees: tokens, a vocabulary, and blocks of tokens with those that follow.
namespace tinymp::data {

enum class TextUnit : std::uint8_t {
  /// A run of letters, digits and apostrophes is a word, any other visible character a token by itself. Space
  /// and line ends only separate. A to Z become a to z; letters beyond ASCII stay as they are.
  word,
  /// Every character of the UTF-8, space and line end too, as it is.
  character,
};

std::vector<std::string> tokens_of(std::string_view text, TextUnit unit);

/// A text as numbers, split by position: the first nine tenths of its tokens for training, the rest, which
/// comes later in the text, for validation.
struct Text {
  std::string name;  ///< "text"
  /// Token of each number. 0 is "<unk>", for all that is not in it; then the most frequent tokens of the
  /// training part, the most frequent first, of equally frequent ones the first in the order of their bytes.
  std::vector<std::string> vocabulary;
  std::vector<std::int32_t> train, validation;
};

/// `vocabulary`: how many tokens to know, <unk> included; fewer when the text has no more. Throws UsageError
/// unless it is at least 2 and fits 32 bits, Error when one of the parts would hold no token.
Text text_from(std::string name, std::string_view text, std::int64_t vocabulary,
               TextUnit unit = TextUnit::word);

/// The same of a file, plain or in gzip. Throws MissingError when there is none, Error when it is no UTF-8 or
/// holds a zero byte.
Text read_text(const std::string& path, std::int64_t vocabulary, TextUnit unit = TextUnit::word);

/// "text": Shakespeare's plays, 1.1 MB (Karpathy's tinyshakespeare.txt). Looked for in text/ where
/// load_images looks for images. Throws MissingError naming every place and the command that fetches it.
Text load_text(std::int64_t vocabulary, TextUnit unit = TextUnit::word);

/// "text (183,000 train, 20,000 validation tokens, vocabulary 8192)", without the commas
std::string describe(const Text& text);

/// B rows of T tokens, and for each the one that follows it in the text.
struct TextBlock {
  std::int64_t rows = 0, steps = 0;               ///< B, T
  std::vector<std::int32_t> tokens{}, targets{};  ///< (B,T), row after row
  bool first = false;                             ///< the rows begin here: a carried state must be forgotten
};

/// Cuts a part of a text into B streams of equal length, one a row, and gives them T tokens at a time:
///
///   tokens 0 1 2 ... 24, B = 2, T = 5:   row 0 reads 0..4, then 5..9;  row 1 reads 12..16, then 17..21
///
/// Row b of a block goes on where row b of the block before ended, so a recurrent state may be carried over
/// (without its gradient); `first` says when it may not, because the streams began anew. Nothing is drawn: a
/// seed changes the first weights alone. What fills no block at the end of a stream (10 and 11 above) is
/// left out.
class TextLoader {
 public:
  /// Keeps a view of `tokens`. Throws UsageError unless at least one block can be made.
  TextLoader(std::span<const std::int32_t> tokens, std::int64_t rows, std::int64_t steps);
  TextLoader(std::vector<std::int32_t>&&, std::int64_t, std::int64_t) = delete;  // the view would dangle

  TextBlock next();
  std::int64_t epoch() const { return epoch_; }  ///< of the block that next() gives, from 0
  std::int64_t blocks_per_epoch() const { return (stream_ - 1) / steps_; }

 private:
  std::span<const std::int32_t> tokens_;
  std::int64_t rows_, steps_, stream_;  ///< stream_: tokens a row, one more than are read
  std::int64_t epoch_ = 0, drawn_ = 0;
};

}  // namespace tinymp::data
