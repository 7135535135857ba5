#pragma once

#include <lessons/lab/classroom/message.h>
#include <algorithm>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

/// What serve.cpp of an exercise is written with: the one file that is compiled together with a submission.
/// It calls what the submission defines with what it is asked, and hands back what came out. It knows no
/// right answer, so nothing is gained by reading or writing its memory.
namespace tinymp::exercise {

/// How a request went; lacking: the machine had no thread for it.
enum class Served : std::uint64_t { answered, threw, lacking };

/// Each exercise has one. What it throws is handed back as its text.
void serve(Message& request, Message& reply);

/// reply: what `f` gives for each of the request's list of In.
template <class In, class F>
void serve_each(Message& request, Message& reply, F f) {
  std::vector<decltype(f(In{}))> out;
  for (const In in : request.all<In>()) out.push_back(f(in));
  reply.put_all(out);
}

/// out[i] = f(i), on all cores.
template <class Out, class F>
std::vector<Out> on_all_cores(std::size_t n, F f) {
  std::vector<Out> out(n);
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::exception_ptr> failed(threads);
  const auto work = [&](std::size_t t) {
    try {
      for (std::size_t i = n * t / threads; i < n * (t + 1) / threads; ++i) out[i] = f(i);
    } catch (...) {
      failed[t] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;  // joins, also where the system gives no more threads
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
  }
  for (const std::exception_ptr& one : failed)
    if (one) std::rethrow_exception(one);
  return out;
}

}  // namespace tinymp::exercise
