#pragma once

#include <tests/catch.h>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Reads gradscaler_traces.json and plays it to anything that behaves like a scaler;
/// record_gradscaler_traces.py tells the format.
namespace tinymp::test {

using nlohmann::json;

inline json recorded_traces() {
  std::string path = __FILE__;
  path = path.substr(0, path.find_last_of('/') + 1) + "gradscaler_traces.json";
  std::ifstream file(path);
  if (!file) FAIL("cannot open " << path);
  return json::parse(file);
}

inline float float_from_hex(const std::string& hex) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(hex, nullptr, 16)));
}

inline std::vector<bool> flags(const std::string& digits) {
  std::vector<bool> result;
  for (const char digit : digits) result.push_back(digit == '1');
  return result;
}

/// What a recording must have touched to be worth something.
struct Tally {
  long steps = 0;
  long bad = 0;
  long at_zero = 0;
  float highest = 0;
  float lowest = 1;  ///< the smallest that is not 0
};

/// Plays one trace to a Subject and stops at the first difference, saying where. A Subject is made from
/// (scale, growth, backoff, interval, tracker, optimizers) and has step(bad) -> who stepped, scale(),
/// tracker().
template <class Subject>
void replay(const json& trace, Tally& tally) {
  const int optimizers = trace["optimizers"];
  auto subject = std::make_unique<Subject>(float_from_hex(trace["initial"]), trace["growth"],
                                           trace["backoff"], trace["interval"], 0, optimizers);
  long step = 0;
  for (const json& row : trace["rows"]) {
    if (row.is_object()) {
      const json& state = row["load"];
      subject = std::make_unique<Subject>(float_from_hex(state["scale"]), state["growth"], state["backoff"],
                                          state["interval"], state["tracker"], optimizers);
      continue;
    }
    const int count = row[0];
    const std::vector<bool> bad = flags(row[1]), stepped = flags(row[2]);
    const auto scale = float_from_hex(row[3]);
    REQUIRE(bad.size() == static_cast<std::size_t>(optimizers));
    for (int i = 0; i < count; ++i, ++step) {
      INFO("trace '" << trace["name"].get<std::string>() << "', step " << step);
      REQUIRE(subject->step(bad) == stepped);
      REQUIRE(std::bit_cast<std::uint32_t>(subject->scale()) == std::bit_cast<std::uint32_t>(scale));
      REQUIRE(subject->tracker() == row[4].get<int>() + i * row[5].get<int>());
      ++tally.steps;
      tally.bad += std::ranges::count(bad, true) > 0;
      tally.at_zero += scale == 0;
      tally.highest = std::max(tally.highest, scale);
      if (scale > 0) tally.lowest = std::min(tally.lowest, scale);
    }
  }
}

template <class Subject>
void replay_all() {
  const json recorded = recorded_traces();
  INFO("recorded by torch " << recorded["header"]["torch"] << " on " << recorded["header"]["date"]);
  Tally tally;
  for (const json& trace : recorded["traces"]) replay<Subject>(trace, tally);
  // The recording is whole, and it goes to the ends of the range.
  CHECK(recorded["traces"].size() == recorded["header"]["traces"].get<std::size_t>());
  CHECK(tally.steps == recorded["header"]["steps"].get<long>());
  CHECK(tally.bad > 1000);
  CHECK(tally.at_zero > 50);
  CHECK(tally.highest == std::numeric_limits<float>::max());
  CHECK(tally.lowest == std::numeric_limits<float>::denorm_min());
}

}  // namespace tinymp::test
