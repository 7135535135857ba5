#include <kernels/cuda/executor.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/base/error.h>
#include <cstdio>
#include <exception>
#include <system_error>

// Replaces kernels/cuda/executor.cpp: nothing in this program runs on Device::cuda. The emulated kernels of
// that device are solutions of some exercises.
namespace tinymp::kernels {

Executor executor() { throw Error("an answer runs on Device::cpu alone"); }
std::string executor_name() { return "none"; }
Allocator& cuda_allocator() {
  static_cast<void>(executor());
  __builtin_unreachable();
}

}  // namespace tinymp::kernels

// The main() of the program with the submission: it reads requests from file 0 and writes replies to file 3
// until the judge closes the pipe. The judge's process makes the verdict: judge.cpp.
int main() {
  using namespace tinymp::exercise;
  constexpr int requests = 0, replies = 3;
  keep_memory();
  Message request;
  while (receive(requests, request)) {
    Message reply;
    reply.put(Served::answered);
    try {
      serve(request, reply);
    } catch (const std::system_error& error) {  // std::thread and the like; no exercise reads a file
      reply = Message().put(Served::lacking).put_text(error.what());
    } catch (const tinymp::MissingError& error) {
      reply = Message().put(Served::lacking).put_text(error.what());
    } catch (const std::exception& error) {
      reply = Message().put(Served::threw).put_text(error.what());
    } catch (...) {
      reply = Message().put(Served::threw).put_text("something that is no std::exception");
    }
    if (!send(replies, reply)) return 1;
  }
  std::fflush(stdout);
  return 0;
}
