#include <lessons/lab/clinic/diagnosis.h>
#include <limits>

namespace tinymp::clinic {

std::vector<Cause> causes() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Cause> all;
  for (const Json& json : read_json(folder() + "/causes.json")) {
    Cause cause{json.at("id"), json.at("line"), json.at("taught"), {}};
    for (const Json& sign : json.at("signs")) {
      cause.signs.push_back({sign.at("fact"), sign.value("least", -infinity), sign.value("most", infinity),
                             sign.at("otherwise")});
    }
    all.push_back(std::move(cause));
  }
  return all;
}

Chart::Chart(const Patient& of)
    : patient(of), answer(answer_of(of)), run(train::load_run(of.log())), facts(facts_of(run, of.config)) {}

std::string Chart::missing_sign(const Cause& cause) const {
  for (const Cause::Sign& sign : cause.signs) {
    const auto fact = facts.find(sign.fact);
    expect(fact != facts.end(), "causes.json: ", cause.id, " asks for '", sign.fact, "', which is no fact");
    const bool there = fact->second >= sign.least && fact->second <= sign.most;  // NaN is not there
    if (!there) return filled(sign.otherwise, facts, run);
  }
  return "";
}

std::string Chart::against(const Cause& cause) const {
  if (is_right(cause.id)) return "";
  const Json& wrong = answer.at("wrong");
  return wrong.contains(cause.id) ? text(wrong.at(cause.id)) : missing_sign(cause);
}

}  // namespace tinymp::clinic
