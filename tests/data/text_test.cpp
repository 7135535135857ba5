#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/data/text.h>
#include <algorithm>
#include <map>
#include <set>

using namespace tinymp;
using data::Text;
using data::TextBlock;
using data::TextLoader;
using data::TextUnit;
using Tokens = std::vector<std::string>;
using Numbers = std::vector<std::int32_t>;

namespace {

void write_text(const std::string& path, const std::string& text) {
  files::write(path, files::Bytes(text.begin(), text.end()));
}

Numbers counting(std::int32_t n) {
  Numbers numbers;
  for (std::int32_t i = 0; i < n; ++i) numbers.push_back(i);
  return numbers;
}

}  // namespace

TEST_CASE("tokens_of: words and characters") {
  CHECK(data::tokens_of("First Citizen:\nBefore we proceed, hear me speak.", TextUnit::word) ==
        Tokens{"first", "citizen", ":", "before", "we", "proceed", ",", "hear", "me", "speak", "."});
  CHECK(data::tokens_of("O'er  'tis\t42 well-known--No!\r\n\r\n", TextUnit::word) ==
        Tokens{"o'er", "'tis", "42", "well", "-", "known", "-", "-", "no", "!"});
  // An accented letter belongs to its word and keeps its case: only A to Z become small.
  CHECK(data::tokens_of("Caf\u00c9 au lait", TextUnit::word) == Tokens{"caf\u00c9", "au", "lait"});
  CHECK(data::tokens_of("A \u00e9\n\u4e2d", TextUnit::character) ==
        Tokens{"A", " ", "\u00e9", "\n", "\u4e2d"});
  CHECK(data::tokens_of("", TextUnit::word).empty());
  CHECK(data::tokens_of(" \n", TextUnit::word).empty());
}

TEST_CASE("text_from: the most frequent first, equals in the order of their bytes, the rest unknown") {
  // 20 tokens, 18 of them for training: the 4 times, b and a twice, c to j once each
  const std::string text = "b the a the c d the e f the g h a b i j k k zebra the";
  const Text all = data::text_from("made up", text, 1000);
  CHECK(all.vocabulary == Tokens{"<unk>", "the", "a", "b", "k", "c", "d", "e", "f", "g", "h", "i", "j"});
  CHECK(all.train.size() == 18);
  CHECK(all.validation == Numbers{0, 1});  // "zebra" is met in the validation part only
  CHECK(data::describe(all) == "made up (18 train, 2 validation tokens, vocabulary 13)");

  const Text few = data::text_from("made up", text, 6);
  CHECK(few.vocabulary == Tokens{"<unk>", "the", "a", "b", "k", "c"});
  CHECK(few.train == Numbers{3, 1, 2, 1, 5, 0, 1, 0, 0, 1, 0, 0, 2, 3, 0, 0, 4, 4});
  CHECK(few.validation == Numbers{0, 1});
  // An unknown token in the text itself does not get a second number.
  CHECK(data::text_from("x", "\u00e9 a \u00e9", 9, TextUnit::character).vocabulary ==
        Tokens{"<unk>", " ", "a", "\u00e9"});

  CHECK(files::message<UsageError>([&] { data::text_from("x", text, 1); }) ==
        "a vocabulary of 1 tokens; choose 2 (<unk> and one more) to 2^31 - 1");
  CHECK(files::message<Error>([&] { data::text_from("x", "one", 9); }) ==
        "x: a text of 1 tokens is too short to be split; take one of 2 or more");
}

TEST_CASE("read_text: plain, gzip, and what is no text") {
  const files::Folder folder;
  const std::string path = folder / "book.txt", mend = "; choose a text in UTF-8, plain or in gzip";
  const auto error = [&] { return files::message<Error>([&] { data::read_text(path, 10); }); };
  write_text(path, "to be or not to be");
  CHECK(data::read_text(path, 10).name == "book.txt");
  CHECK(data::read_text(path, 10).vocabulary == Tokens{"<unk>", "to", "be", "not", "or"});
  const std::string text = "\xef\xbb\xbfto be or not to be";
  files::write(path, files::gzip(files::Bytes(text.begin(), text.end())));
  CHECK(data::read_text(path, 10).vocabulary == Tokens{"<unk>", "to", "be", "not", "or"});

  CHECK(files::message<MissingError>([&] { data::read_text(folder / "none", 10); }) ==
        (folder / "none") + ": no such file" + mend);
  for (const char* wrong :
       {"to be \xff or", "to be \xc3", "to be \xc3(", "to be \x80 or", "to be \xc0\x80"}) {
    write_text(path, wrong);
    CHECK(error() == path + ": byte 6 is no UTF-8 text" + mend);
  }
  for (const char* const nothing : {"", "\xef\xbb\xbf", " \n\t\n"}) {
    write_text(path, nothing);
    CHECK(error() == path + ": an empty text" + mend);
  }
  write_text(path, std::string("to be \0 or", 10));
  CHECK(error() == path + ": byte 6 is no UTF-8 text" + mend);
}

TEST_CASE("load_text: a missing text names every place and the command that fetches it") {
  if (std::filesystem::exists(files::source_datasets() / "text"))
    SKIP_TEST("datasets/text is there, so nothing is missing");
  const files::Folder folder;
  const files::Environment environment("TINYMP_DATA", folder.path.c_str()), none("TINYMP_DATASETS", nullptr);
  CHECK(files::message<MissingError>([] { data::load_text(10); }) ==
        "the data set \"text\" is not here; fetch it with ./learn data text. Looked in:\n  " +
            (folder / "text") + "\n  " + (files::source_datasets() / "text").string());
  write_text(folder / "text/tinyshakespeare.txt", "to be or \xff");
  CHECK(files::message<Error>([] { data::load_text(10); }) ==
        (folder / "text/tinyshakespeare.txt") +
            ": byte 9 is no UTF-8 text; fetch it again with ./learn data text");
}

TEST_CASE("TextLoader: streams go on from block to block, targets are one ahead") {
  const Numbers tokens = counting(25);
  TextLoader loader(tokens, 2, 5);
  CHECK(loader.blocks_per_epoch() == 2);
  for (int epoch = 0; epoch < 2; ++epoch) {
    CHECK(loader.epoch() == epoch);
    const TextBlock first = loader.next(), second = loader.next();
    CHECK(first.rows == 2);
    CHECK(first.steps == 5);
    CHECK(first.first);
    CHECK(first.tokens == Numbers{0, 1, 2, 3, 4, 12, 13, 14, 15, 16});
    CHECK(first.targets == Numbers{1, 2, 3, 4, 5, 13, 14, 15, 16, 17});
    CHECK_FALSE(second.first);
    CHECK(second.tokens == Numbers{5, 6, 7, 8, 9, 17, 18, 19, 20, 21});
    CHECK(second.targets == Numbers{6, 7, 8, 9, 10, 18, 19, 20, 21, 22});
  }
  // The longest that fits: the last target is the last token.
  CHECK(TextLoader(tokens, 1, 24).next().targets.back() == 24);
  const auto refused = [&](std::int64_t rows, std::int64_t steps) {
    return files::message<UsageError>([&] { TextLoader(tokens, rows, steps); });
  };
  CHECK(refused(1, 25) ==
        "no block of 1 rows x 25 steps can be cut from 25 tokens; each row takes one token more than it has "
        "steps");
  CHECK_FALSE(refused(0, 5).empty());
  CHECK_FALSE(refused(2, 0).empty());
  CHECK_FALSE(refused(26, 1).empty());
}

// Counted with: tr 'A-Z' 'a-z' <FILE | grep -oE "[a-z0-9']+|[^a-z0-9' ]" (and head, sort, uniq -c, sort -rn)
TEST_CASE("load_text: tiny Shakespeare") {
  const char* data = std::getenv("TINYMP_DATA");
  if (!std::filesystem::exists(std::string(data == nullptr ? "" : data) + "/text/tinyshakespeare.txt"))
    SKIP_TEST("TINYMP_DATA does not hold text/");
  const Text words = data::load_text(8192);
  CHECK(data::describe(words) == "text (227069 train, 25230 validation tokens, vocabulary 8192)");
  CHECK(Tokens(words.vocabulary.begin(), words.vocabulary.begin() + 7) ==
        Tokens{"<unk>", ",", ":", ".", "the", "and", "to"});
  CHECK(words.vocabulary[8190] == "entered");
  CHECK(words.vocabulary[8191] == "entertain'd");  // the last of those met once that are known
  CHECK(std::ranges::count(words.train, 0) == 3739);
  CHECK(std::ranges::count(words.validation, 0) == 1440);

  const Text characters = data::load_text(1000, TextUnit::character);
  CHECK(characters.vocabulary.size() == 66);  // its 65, all of which the training part holds, and <unk>
  CHECK(characters.train.size() == 1'003'854);
  CHECK(characters.validation.size() == 111'540);
  CHECK(std::ranges::count(characters.train, 0) == 0);
  CHECK(characters.vocabulary[1] == " ");
}
