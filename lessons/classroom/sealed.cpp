#include <unistd.h>

#include <lessons/classroom/judge.h>
#include <lessons/classroom/sha256.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>

// The main() of every check. Who started it gives a word that nobody can guess on standard input and reads
// the verdict from file 3; the verdict counts only with its seal, made with that word, and the number of
// cases: a learner's file that calls exit(0), or prints "passed", has said nothing.
namespace tinymp::exercise {
namespace {

struct Wrong {
  std::string message;
};

constexpr int verdict_file = 3;

std::array<char, 256> given{};

/// Before every static initialiser: this file is linked first. Whoever reads standard input later finds
/// nothing there.
void take_word() {
  std::size_t n = 0;
  for (ssize_t more = 1; more > 0 && n + 1 < given.size(); n += more > 0 ? static_cast<std::size_t>(more) : 0)
    more = read(0, given.data() + n, given.size() - 1 - n);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const first)() = take_word;

void tell(const std::string& word, const std::string& verdict) {
  const std::string text = classroom::sha256(word + "\n" + verdict) + "\n" + verdict + "\n";
  std::size_t told = 0;
  while (told < text.size()) {
    const ssize_t n = write(verdict_file, text.data() + told, text.size() - told);
    if (n <= 0) std::_Exit(1);
    told += static_cast<std::size_t>(n);
  }
}

std::string judged() {
  Judge judge(0);
  try {
    check(judge);
    return "passed " + std::to_string(judge.cases());
  } catch (const Wrong& wrong) {
    return "wrong\n" + wrong.message;
  } catch (const std::exception& error) {
    return "threw\n" + std::string(error.what());
  } catch (...) {
    return "threw\nsomething that is no std::exception";
  }
}

}  // namespace

void Judge::fail(const std::string& message) { throw Wrong{message}; }

}  // namespace tinymp::exercise

int main() {
  const std::string word(tinymp::exercise::given.data());
  tinymp::exercise::tell(word.substr(0, word.find('\n')), tinymp::exercise::judged());
  std::fflush(stdout);
}
