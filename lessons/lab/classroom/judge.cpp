#include <lessons/lab/classroom/judge.h>
#include <lessons/lab/classroom/serve.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

// The main() of a judge: `judge SEED`. It writes requests to file 3, reads replies from file 4 and writes the
// verdict to standard output: a line with one word, then the lines of the message.
namespace tinymp::exercise {
namespace {

constexpr int requests = 3, replies = 4;
constexpr std::size_t longest_verdict = 16 << 10;  // fits a pipe, which is read after the program's end

struct Wrong {
  std::string message;
};
/// The program has ended without a reply.
struct Gone {
  std::string asked;
};

/// The program could not start a thread: it had taken all of them itself, or others had.
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
  // When the program has ended, receive() reports it.
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
