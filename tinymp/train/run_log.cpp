#include <fcntl.h>
#include <unistd.h>

#include <tinymp/base/error.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/train/log_json.h>
#include <tinymp/train/provenance.h>
#include <tinymp/train/run_log.h>
#include <tinymp/train/run_log_fields.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

// Writing. The reader is in run_log_reader.cpp; the keys of both are in run_log_fields.h.
namespace tinymp::train {
namespace {

using Out = nlohmann::ordered_json;

/// Fills one JSON object, field by field.
struct ToJson {
  Out json = Out::object();

  void operator()(const char* key, const std::string& value) { json[key] = value; }
  void operator()(const char* key, std::integral auto value) { json[key] = value; }
  void operator()(const char* key, DType value) { json[key] = name_of(value); }
  void operator()(const char* key, Rounding value) { json[key] = name_of(value); }
  void operator()(const char* key, ScalingChoice auto value) { json[key] = name_of(value); }
  void operator()(const char* key, float value) { (*this)(key, static_cast<double>(value)); }
  void operator()(const char* key, double value) { json[key] = json_number(value); }
  void operator()(const char* key, const LayerNames& names) { json[key] = names.text(); }
  void operator()(const char* key, const ScaleFloors& floors) { json[key] = to_text(floors); }
  void operator()(const char* key, const Recipe& recipe) {
    ToJson inner;
    fields(recipe, inner);
    json[key] = std::move(inner.json);
  }
  void operator()(const char* key, const MemoryBytes& memory) {
    ToJson inner;
    fields(memory, inner);
    json[key] = std::move(inner.json);
  }
  void operator()(const char* key, const LossScaling& scaling) {
    ToJson inner;
    inner.json["kind"] = name_of(scaling);
    fields(scaling, inner);
    json[key] = std::move(inner.json);
  }
};

/// Bytes that are not UTF-8 (in a path, say) become U+FFFD instead of an error in the middle of a run.
std::string one_line(const Out& json) { return json.dump(-1, ' ', false, Out::error_handler_t::replace); }

/// Renames a file, unless another has the name. A file system without hard links cannot do both at once.
void take_name(const std::string& part, const std::string& path) {
  if (link(part.c_str(), path.c_str()) == 0) {
    std::remove(part.c_str());
    return;
  }
  const int reason = errno;
  std::error_code unknown;
  const bool taken = reason == EEXIST || std::filesystem::exists(path, unknown);
  if (taken || std::rename(part.c_str(), path.c_str()) != 0)
    throw Error(write_failure("the run log", path, taken ? EEXIST : errno));
}

}  // namespace

std::string write_failure(const std::string& what, const std::string& path, int error_number) {
  std::string mend = "write elsewhere: --out DIR";
  if (error_number == ENOSPC || error_number == EDQUOT) mend = "free some space, or " + mend;
  if (error_number == EFBIG) mend = "raise the limit (ulimit -f), or " + mend;
  if (error_number == EEXIST) mend = "nothing is ever written over: move it away, or " + mend;
  if (error_number == ENOENT) mend = "make its folder first, or " + mend;
  return concat("cannot write ", what, " ", path, ": ", std::strerror(error_number), "; ", mend);
}

std::string describe_batch(const RunHeader& header) {
  return header.micro_batches == 1 ? concat(header.batch) : concat(header.batch, " x ", header.micro_batches);
}

RunLog::RunLog(std::string path, RunHeader header)
    : log_(std::move(path), nullptr), header_(std::move(header)) {
  header_.date = utc_now();
  header_.commit = build_commit();
  header_.pieces = pieces();
  header_.compiler = compiler_name();
  header_.threads = threads();
  if (header_.device.empty()) header_.device = processor_name();

  // The file gets its name when it has its header: a file without one is no run, and cannot be read.
  const std::string part = log_.path_ + ".part";
  const int file =
      open(part.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  log_.file_.reset(file < 0 ? nullptr : fdopen(file, "a"));
  if (!log_.file_) throw Error(write_failure("the run log", log_.path_, errno));
  std::setvbuf(log_.file_.get(), nullptr, _IONBF, 0);  // each line is one write, so a failure shows at once
  log_.lock();
  if (ftruncate(fileno(log_.file_.get()), 0) != 0)
    throw Error(write_failure("the run log", log_.path_, errno));

  ToJson line;
  line("tinymp_run", run_log_version);
  fields(std::as_const(header_), line);
  if (header_.pieces.empty()) line.json.erase("pieces");
  if (header_.micro_batches == 1) line.json.erase("micro_batches");
  if (header_.recompute.empty()) line.json.erase("recompute");
  if (header_.ranks == 1) line.json.erase("ranks");
  if (header_.wire.empty()) line.json.erase("wire");
  try {
    write_line(one_line(line.json));
    take_name(part, log_.path_);
  } catch (const Error&) {
    std::remove(part.c_str());
    throw;
  }
  lines_ = 0;
}

void RunLog::write(const LogRecord& step) {
  ToJson line;
  fields(step, line);
  sampled_fields(step, [&](const char* key, double value) {
    if (is_measured(value)) line(key, value);
  });
  write_line(one_line(line.json));
}

void RunLog::write_sizes(const StepSizes& sizes) { write_line(one_line({{"sizes", json_of(sizes)}})); }

void RunLog::note(const Finding& finding) {
  ToJson inner;
  fields(finding, inner);
  if (!finding.direction.empty()) traced_fields(finding, inner);
  write_line(one_line({{"finding", inner.json}}));
}

void RunLog::finish(const RunResult& result) {
  ToJson inner;
  fields(result, inner);
  if (result.weights.empty()) inner.json.erase("weights");
  if (result.peak_bytes > 0) measured_fields(result, inner);
  if (result.peak_without_scratch == 0) inner.json.erase("peak_without_scratch");
  if (result.memory == MemoryBytes{}) inner.json.erase("memory");
  write_line(one_line({{"result", inner.json}}));
  if (std::fclose(log_.file_.release()) != 0) throw Error(write_failure("the run log", path(), errno));
  std::remove((path() + ".finished").c_str());  // RunLog(path, lines, step) may have kept it
}

void RunLog::write_line(std::string json) {
  expect(log_.file_ != nullptr, "run log ", path(),
         ": closed, after its result or a failure; nothing can follow");
  json += '\n';
  errno = 0;
  if (std::fwrite(json.data(), 1, json.size(), log_.file_.get()) == json.size()) {
    ++lines_;
    return;
  }
  const int reason = errno;
  log_.file_.reset();
  throw Error(write_failure("the run log", path(), reason));
}

std::string new_run_folder(const std::string& dir, const std::string& name) {
  std::error_code failed;
  if (!dir.empty()) std::filesystem::create_directories(dir, failed);
  if (failed) throw Error(write_failure("to the folder", dir, failed.value()));
  for (int number = 1;; ++number) {
    const std::string digits = std::to_string(number);
    const std::string padded = std::string(3 - std::min<std::size_t>(3, digits.size()), '0') + digits;
    const auto folder = std::filesystem::path(dir) / (name + "-" + padded);
    const bool made = std::filesystem::create_directory(folder, failed);  // false when it exists
    if (made) return folder.string();
    // A plain file takes the name as a folder does.
    if (failed && failed.value() != EEXIST)
      throw Error(write_failure("the folder", folder.string(), failed.value()));
  }
}

}  // namespace tinymp::train
