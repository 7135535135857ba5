#pragma once

#include <sys/types.h>

#include <tinymp/base/device.h>
#include <tinymp/base/error.h>
#include <nlohmann/json.hpp>
#include <string>

namespace tinymp::kernels::bench {

/// PyTorch in a process of its own (pytorch.py), which answers requests while our process waits. Python is
/// TINYMP_PYTHON when that is set, else the first of python3 and python that imports torch.
class PyTorch {
 public:
  explicit PyTorch(int threads, Device device = Device::cpu);  ///< where it trains; products stay on the CPU
  ~PyTorch();
  PyTorch(const PyTorch&) = delete;

  /// Empty when it can be used.
  const std::string& why_not() const { return why_not_; }
  /// Facts about PyTorch: "version", "built with", "threads".
  const nlohmann::ordered_json& about() const { return about_; }

  /// For one answer; after more it is ended, and can be used no more. FP16 on a CPU takes minutes, as does torch.compile.
  static constexpr int usual_patience = 300;
  void wait_at_most(int seconds);

  /// Sends one line and returns the JSON object of the answer. Throws Error for an error or a missing answer.
  nlohmann::ordered_json ask(const std::string& request);
  /// The value `name` of the answer. Throws Error also when it is missing or has another type.
  template <class Value>
  Value ask(const std::string& request, const char* name) {
    return value_of<Value>(ask(request), request, name);
  }
  /// The seconds of a timed request. It is sent after our own threads have come to rest.
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

  bool start(const std::string& python, const std::string& hello);
  void stop();
  void send_line(const std::string& line);
  bool receive_line(std::string& line);

  pid_t child_ = 0;
  int channel_ = -1;
  int patience_ = usual_patience;
  std::string received_;  ///< received bytes that are not read yet
  std::string why_not_;
  nlohmann::ordered_json about_;
};

}  // namespace tinymp::kernels::bench
