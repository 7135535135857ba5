#include <lessons/lab/classroom/judge.h>
#include <lessons/lab/classroom/serve.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

// The main() of a judge: `judge SEED`. It asks on file 3, hears on file 4 and writes the verdict on standard
// output: a word, and behind it in lines what there is to say.
namespace tinymp::exercise {
namespace {

constexpr int requests = 3, replies = 4;
constexpr std::size_t longest_verdict = 16 << 10;  // fits a pipe: it is read when the program has ended

struct Wrong {
  std::string message;
};
/// The program has ended.
struct Gone {
  std::string asked;
};

/// The program found no thread to be had: it took them all itself, or others did.
struct Lacking {
  std::string what;
};

std::string judged(Judge& judge) {
  try {
    check(judge);
    return "passed\n" + std::to_string(judge.cases());
  } catch (const Wrong& wrong) {
    return "wrong\n" + wrong.message;
  } catch (const Gone& gone) {
    return "gone\n" + gone.asked;
  } catch (const Threw& threw) {
    return "threw\n" + std::string(threw.what());
  } catch (const Lacking& lacking) {
    return "lacking\n" + lacking.what;
  } catch (const Malformed& malformed) {
    return "malformed\n" + std::string(malformed.what());
  }
}

}  // namespace

void Judge::fail(const std::string& message) { throw Wrong{message}; }

void Judge::send(const Message& request) {
  // When the program is gone, receive() says so.
  [[maybe_unused]] const bool heard = exercise::send(requests, request);
}

Message Judge::receive(const std::function<std::string()>& asked) {
  Message reply;
  if (!exercise::receive(replies, reply)) throw Gone{asked ? asked() : ""};
  switch (reply.take<Served>()) {
    case Served::answered:
      return reply;
    case Served::threw:
      throw Threw(reply.text().substr(0, 1000));
    case Served::lacking:
      throw Lacking{reply.text().substr(0, 1000)};
  }
  throw Malformed("a reply is neither an answer nor an error");
}

Message Judge::ask(const Message& request, const std::function<std::string()>& asked) {
  send(request);
  return receive(asked);
}

}  // namespace tinymp::exercise

int main(int argc, char** argv) {
  tinymp::exercise::keep_memory();
  std::signal(SIGPIPE, SIG_IGN);
  tinymp::exercise::Judge judge(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0);
  const std::string verdict = tinymp::exercise::judged(judge);
  std::fwrite(verdict.data(), 1, std::min(verdict.size(), tinymp::exercise::longest_verdict), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
