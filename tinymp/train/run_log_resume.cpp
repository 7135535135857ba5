#include <unistd.h>

#include <tinymp/base/error.h>
#include <tinymp/train/atomic_file.h>
#include <tinymp/train/run_log.h>
#include <cerrno>
#include <fstream>
#include <iterator>

// Going on with the log of an interrupted run.
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

}  // namespace

RunLog::RunLog(std::string path, std::int64_t lines) : path_(std::move(path)), lines_(lines) {
  std::ifstream in(path_, std::ios::binary);
  expect(in.is_open(), "cannot go on with the run log ", path_,
         ": there is none; a checkpoint goes on beside the log that it was saved with");
  std::string text(std::istreambuf_iterator<char>(in), {});
  const std::size_t length = length_of(text, lines + 1);
  expect(length > 0, "cannot go on with the run log ", path_, ": it has fewer than the ", lines,
         " lines of its checkpoint; go on from an earlier checkpoint, or train anew");
  if (length < text.size()) {
    text.resize(length);
    write_atomically("the run log", path_, text);
  }
  header_ = load_run(path_).header;
  out_.reset(std::fopen(path_.c_str(), "a"));
  if (!out_) throw Error(write_failure("the run log", path_, errno));
  std::setvbuf(out_.get(), nullptr, _IONBF, 0);
}

void RunLog::sync() {
  expect(out_ != nullptr, "run log ", path_, ": closed; nothing waits to be written");
  if (fsync(fileno(out_.get())) != 0 && errno != EINVAL && errno != ENOTSUP)
    throw Error(write_failure("the run log", path_, errno));
}

}  // namespace tinymp::train
