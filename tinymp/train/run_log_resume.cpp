#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <tinymp/base/error.h>
#include <tinymp/train/atomic_file.h>
#include <tinymp/train/run_log.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>

// Going on with the log of an interrupted run, and telling it from one that is still written.
namespace tinymp::train {
namespace {

/// The length of the first `lines` lines; 0 when there are fewer.
std::size_t length_of(const std::string& text, std::int64_t lines) {
  std::size_t end = 0;
  for (std::int64_t i = 0; i < lines; ++i) {
    const std::size_t newline = text.find('\n', end);
    if (newline == std::string::npos) return 0;
    end = newline + 1;
  }
  return end;
}

struct LoggedSteps {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
};

/// The first and the last step in lines of a log.
LoggedSteps steps_in(std::string_view lines) {
  constexpr std::string_view begin = "{\"step\":";
  LoggedSteps found;
  for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
    if (lines.substr(at).starts_with(begin)) {
      std::int64_t step = 0;
      std::from_chars(lines.data() + at + begin.size(), lines.data() + lines.size(), step);
      found.first = std::min(found.first, step);
      found.last = std::max(found.last, step);
    }
    if (lines.find('\n', at) == std::string_view::npos) break;
  }
  return found;
}

bool has_result(std::string_view lines) {
  return lines.starts_with("{\"result\"") || lines.find("\n{\"result\"") != std::string_view::npos;
}

}  // namespace

HeldLog::HeldLog(std::string path) : HeldLog(path, std::fopen(path.c_str(), "r+")) {
  expect(file_ != nullptr || errno != ENOENT, "cannot go on with the run log ", path_,
         ": there is none; a checkpoint goes on beside the log that it was saved with");
  if (!file_) throw Error(write_failure("the run log", path_, errno));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  lock();
}

RunLog::RunLog(HeldLog log, std::int64_t lines, std::int64_t step) : log_(std::move(log)), lines_(lines) {
  const std::string& path = log_.path_;
  std::FILE* const out = log_.file_.get();
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::size_t length = length_of(text, lines + 1);
  expect(length > 0, "cannot go on with the run log ", path, ": it has fewer than the ", lines,
         " lines of its checkpoint; go on from an earlier checkpoint, or train anew");
  const std::string_view kept = std::string_view(text).substr(0, length),
                         rest = std::string_view(text).substr(length);
  const bool ends_there = steps_in(kept).last <= step && steps_in(rest).first > step && !has_result(kept);
  expect(ends_there, "cannot go on with the run log ", path, ": its first ", lines,
         " lines do not end at step ", step,
         ", where the checkpoint is; log and checkpoint are of two runs, take those of one");
  if (has_result(rest)) write_atomically("the log of the finished run", path + ".finished", text);
  if (length < text.size() && ftruncate(fileno(out), static_cast<off_t>(length)) != 0)
    throw Error(write_failure("the run log", path, errno));
  header_ = load_run(path).header;
  std::fseek(out, 0, SEEK_END);
}

void HeldLog::lock() const {
  const int file = fileno(file_.get());
  fcntl(file, F_SETFD, FD_CLOEXEC);  // a child would keep the lock
  constexpr int most = 20;           // is_being_written() takes a look for a moment
  for (int attempt = 0; flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++attempt) {
    expect(attempt < most, "cannot write the run log ", path_,
           ": another program is writing it; wait until that has ended");
    usleep(5000);
  }
}

bool is_being_written(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const bool is_held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return is_held;
}

void RunLog::sync() {
  expect(log_.file_ != nullptr, "run log ", path(), ": closed; nothing waits to be written");
  if (fsync(fileno(log_.file_.get())) != 0 && errno != EINVAL && errno != ENOTSUP)
    throw Error(write_failure("the run log", path(), errno));
}

}  // namespace tinymp::train
