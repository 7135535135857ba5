#include <unistd.h>

#include <lessons/lab/report/write_file.h>
#include <tinymp/base/error.h>
#include <tinymp/train/run_log.h>
#include <cerrno>
#include <cstdio>

namespace tinymp::report {

void write_whole(const std::string& path, std::string_view text, const std::string& what,
                 const std::string& elsewhere) {
  const std::string part = path + ".part";
  const auto fail = [&](int reason) {
    std::remove(part.c_str());
    std::string message = train::write_failure(what, path, reason);
    constexpr std::string_view usual = "--out DIR";
    if (message.ends_with(usual)) message.replace(message.size() - usual.size(), usual.size(), elsewhere);
    throw Error(message);
  };
  std::FILE* const file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) fail(errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                       std::fflush(file) == 0 &&
                       (fsync(fileno(file)) == 0 || errno == EINVAL);  // EINVAL: not a file on a disk
  const int reason = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) fail(written ? errno : reason);
  if (std::rename(part.c_str(), path.c_str()) != 0) fail(errno);
}

}  // namespace tinymp::report
