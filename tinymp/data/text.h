#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// From a text to numbers: tokens and a vocabulary.
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

}  // namespace tinymp::data
