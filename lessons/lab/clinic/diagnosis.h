#pragma once

#include <lessons/lab/clinic/facts.h>

/// Causes held against a patient's facts. causes.json has them all: what each is, where it is taught, and the
/// signs without which it cannot be the cause.
namespace tinymp::clinic {

struct Cause {
  struct Sign {
    std::string fact;
    double least, most;     ///< between these the fact must lie
    std::string otherwise;  ///< why the cause is excluded where it does not
  };
  std::string id, line, taught;
  std::vector<Sign> signs;
};
std::vector<Cause> causes();

/// A patient with all that is known.
struct Chart {
  explicit Chart(const Patient& patient);

  bool is_right(const std::string& cause) const { return answer.at("cause") == cause; }
  /// Why a cause is not it: what the answer says of it, or the first sign that is missing. Empty when nothing
  /// speaks against it.
  std::string against(const Cause& cause) const;
  /// The first sign that is missing, and nothing else.
  std::string missing_sign(const Cause& cause) const;
  std::string text(const Json& of) const { return filled(of.get<std::string>(), facts, run); }

  Patient patient;
  Json answer;
  train::Run run;  ///< the recorded one
  Facts facts;
};

}  // namespace tinymp::clinic
