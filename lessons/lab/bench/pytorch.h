#pragma once

#include <sys/types.h>

#include <tinymp/base/error.h>
#include <nlohmann/json.hpp>
#include <string>

namespace tinymp::kernels::bench {

/// PyTorch, in a process of its own (pytorch.py) that does what it is asked while ours waits. Python is
/// TINYMP_PYTHON when that is set, else the first of python3 and python that imports torch.
class PyTorch {
 public:
  explicit PyTorch(int threads);
  ~PyTorch();
  PyTorch(const PyTorch&) = delete;

  /// Empty when it can be used.
  const std::string& why_not() const { return why_not_; }
  /// What it says of itself: "version", "built with", "threads".
  const nlohmann::ordered_json& about() const { return about_; }

  /// One line out, one JSON object back. Throws Error when it answers with an error, or not at all.
  nlohmann::ordered_json ask(const std::string& request);
  /// What it answers by that name; throws Error too when it is not there, or something else.
  template <class Value>
  Value ask(const std::string& request, const char* name) {
    return value_of<Value>(ask(request), request, name);
  }
  /// The same for what takes time; begins when our own threads have come to rest.
  double seconds(const std::string& request);

 private:
  template <class Value>
  static Value value_of(const nlohmann::ordered_json& answer, const std::string& request, const char* name) {
    try {
      return answer.at(name).get<Value>();
    } catch (const nlohmann::json::exception& error) {
      throw Error(concat("PyTorch's process answers '", request, "' without '", name,
                         "' as it should be: ", answer.dump(), " (", error.what(), ")"));
    }
  }

  bool start(const std::string& python, int threads);
  void stop();
  void send_line(const std::string& line);
  bool receive_line(std::string& line);

  pid_t child_ = 0;
  int channel_ = -1;
  std::string received_;  ///< and not yet read
  std::string why_not_;
  nlohmann::ordered_json about_;
};

}  // namespace tinymp::kernels::bench
