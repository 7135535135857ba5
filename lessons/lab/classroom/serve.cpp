#include <kernels/cuda/executor.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/base/error.h>
#include <cstdio>
#include <exception>
#include <system_error>

// In the place of kernels/cuda/executor.cpp: here nothing runs on Device::cuda, whose kernels, emulated, are
// the solutions of some exercises once more.
namespace tinymp::kernels {

Executor executor() { throw Error("an answer runs on Device::cpu alone"); }
std::string executor_name() { return "none"; }
Allocator& cuda_allocator() {
  static_cast<void>(executor());
  __builtin_unreachable();
}

}  // namespace tinymp::kernels

// The main() of the program with a submission in it: answers requests from file 0 on file 3 until the judge
// has asked enough. The verdict is made in another process: judge.cpp.
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
    } catch (const std::system_error& error) {  // std::thread and its kin; no exercise reads a file
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
