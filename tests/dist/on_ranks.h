#pragma once

#include <tests/catch.h>
#include <tinymp/dist/threads.h>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

/// Runs a function on ranks that are threads of this program.
namespace tinymp::test {

/// Returns what each rank threw, by rank: its message, or "".
inline std::vector<std::string> messages_on_ranks(const dist::ThreadRanks& ranks, int count,
                                                  const std::function<void(dist::Transport&)>& body) {
  std::vector<std::string> messages(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int r = 0; r < count; ++r)
    threads.emplace_back([&, r] {
      try {
        body(ranks.at(r));
      } catch (const std::exception& error) {
        messages[static_cast<std::size_t>(r)] = error.what();
        if (messages[static_cast<std::size_t>(r)].empty()) messages[static_cast<std::size_t>(r)] = "?";
      }
    });
  for (std::thread& thread : threads) thread.join();
  return messages;
}

/// The same where nothing may be thrown; CHECK is for one thread, so the body leaves what is to be checked.
inline void on_ranks(int count, const std::function<void(dist::Transport&)>& body) {
  const dist::ThreadRanks ranks(count);
  const std::vector<std::string> messages = messages_on_ranks(ranks, count, body);
  CHECK(messages == std::vector<std::string>(static_cast<std::size_t>(count)));
}

}  // namespace tinymp::test
