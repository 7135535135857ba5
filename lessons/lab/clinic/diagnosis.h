#pragma once

#include <lessons/lab/clinic/facts.h>

/// Compares causes with a patient's facts. causes.json holds all causes: what each is, where it is taught,
/// and the signs that it needs.
namespace tinymp::clinic {

struct Cause {
  struct Sign {
    std::string fact;
    double least, most;     ///< the fact has to lie between these
    std::string otherwise;  ///< why a fact outside them excludes the cause
  };
  std::string id, line, taught;
  std::vector<Sign> signs;
};
std::vector<Cause> causes();

/// A patient with the answer, the recorded run and its facts.
struct Chart {
  explicit Chart(const Patient& patient);

  bool is_right(const std::string& cause) const { return answer.at("cause") == cause; }
  /// Why a cause is wrong: the answer's words on it, or the first missing sign. Empty when nothing speaks
  /// against the cause.
  std::string against(const Cause& cause) const;
  /// The first missing sign, without a look at the answer. Empty when all signs are there.
  std::string missing_sign(const Cause& cause) const;
  std::string text(const Json& of) const { return filled(of.get<std::string>(), facts, run); }

  Patient patient;
  Json answer;
  train::Run run;  ///< the recorded one
  Facts facts;
};

}  // namespace tinymp::clinic
