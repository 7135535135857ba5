#pragma once

#include <lessons/lab/classroom/message.h>
#include <algorithm>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

/// The tools of serve.cpp of an exercise, the one file that is compiled together with a submission. It calls
/// the functions of the submission with the arguments of a request, and sends the results back. It knows no
/// right answer, so a submission gains nothing by reading or writing its memory.
namespace tinymp::exercise {

/// How a request ended; lacking: the machine had no thread for it.
enum class Served : std::uint64_t { answered, threw, lacking };

/// Each exercise defines one. An exception is sent back as its text.
void serve(Message& request, Message& reply);

/// Puts the list of f(x) into `reply`, for each x in the request's list of In.
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
    std::vector<std::jthread> others;  // joins all threads, even when the system gives no more of them
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
  }
  for (const std::exception_ptr& one : failed)
    if (one) std::rethrow_exception(one);
  return out;
}

}  // namespace tinymp::exercise
