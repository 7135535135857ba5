#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/classroom/message.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

// usage: classroom_relay record FILE PROGRAM   between a judge and PROGRAM: writes down what PROGRAM answers
//        classroom_relay repeat FILE           says to each request what stands there next
namespace {

using namespace tinymp::exercise;

void record(const char* file, const char* program) {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) std::abort();
  if (fork() == 0) {
    dup2(to[0], 0);
    dup2(from[1], 3);
    for (int i = 4; i < 64; ++i) close(i);
    execl(program, program, nullptr);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  std::FILE* const kept = std::fopen(file, "wb");
  if (kept == nullptr) std::abort();
  for (Message request, reply; receive(0, request);) {
    if (!send(to[1], request) || !receive(from[0], reply) || !send(3, reply)) break;
    const std::uint64_t length = reply.bytes().size();
    std::fwrite(&length, sizeof length, 1, kept);
    std::fwrite(reply.bytes().data(), 1, length, kept);
  }
  std::fclose(kept);
}

void repeat(const char* file) {
  std::FILE* const kept = std::fopen(file, "rb");
  if (kept == nullptr) std::abort();
  std::uint64_t length = 0;
  for (Message request; receive(0, request) && std::fread(&length, sizeof length, 1, kept) == 1;) {
    std::vector<std::byte> bytes(length);
    if (std::fread(bytes.data(), 1, length, kept) != length || !send(3, Message(std::move(bytes)))) break;
  }
  std::fclose(kept);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "record" && argc > 3) record(argv[2], argv[3]);
  if (what == "repeat") repeat(argv[2]);
  return what.empty() ? 2 : 0;
}
