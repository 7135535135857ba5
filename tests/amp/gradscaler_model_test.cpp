#include <tests/amp/scaler_model.h>
#include <tests/catch.h>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// The model of GradScaler against traces of a real PyTorch; record_gradscaler_traces.py tells the format.
namespace tinymp::test {
namespace {

using nlohmann::json;

json recorded_traces() {
  std::string path = __FILE__;
  path = path.substr(0, path.find_last_of('/') + 1) + "gradscaler_traces.json";
  std::ifstream file(path);
  if (!file) FAIL("cannot open " << path);
  return json::parse(file);
}

float float_from_hex(const std::string& hex) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(hex, nullptr, 16)));
}

std::vector<bool> flags(const std::string& digits) {
  std::vector<bool> result;
  for (const char digit : digits) result.push_back(digit == '1');
  return result;
}

struct Tally {
  long steps = 0;
  long bad = 0;
  long at_zero = 0;
  float highest = 0;
  float lowest = 1;  ///< the smallest that is not 0
};

/// Runs one trace through the model; stops at the first step that differs, and says which.
void replay(const json& trace, Tally& tally) {
  ScalerModel model{float_from_hex(trace["initial"]), trace["growth"], trace["backoff"], trace["interval"]};
  long step = 0;
  for (const json& row : trace["rows"]) {
    if (row.is_object()) {
      const json& state = row["load"];
      model = {float_from_hex(state["scale"]), state["growth"], state["backoff"], state["interval"],
               state["tracker"]};
      continue;
    }
    const int count = row[0];
    const std::vector<bool> bad = flags(row[1]);
    REQUIRE(bad.size() == trace["optimizers"].get<std::size_t>());
    for (int i = 0; i < count; ++i, ++step) {
      INFO("trace '" << trace["name"].get<std::string>() << "', step " << step);
      REQUIRE(ScalerModel::stepped(bad) == flags(row[2]));
      model.update(bad);
      REQUIRE(std::bit_cast<std::uint32_t>(model.scale) ==
              std::bit_cast<std::uint32_t>(float_from_hex(row[3].get<std::string>())));
      REQUIRE(model.tracker == row[4].get<int>() + i * row[5].get<int>());
      ++tally.steps;
      tally.bad += std::ranges::count(bad, true) > 0;
      tally.at_zero += model.scale == 0;
      tally.highest = std::max(tally.highest, model.scale);
      if (model.scale > 0) tally.lowest = std::min(tally.lowest, model.scale);
    }
  }
}

TEST_CASE("the model of GradScaler gives the recorded traces of PyTorch, bit for bit") {
  const json recorded = recorded_traces();
  INFO("recorded by torch " << recorded["header"]["torch"] << " on " << recorded["header"]["date"]);
  Tally tally;
  for (const json& trace : recorded["traces"]) replay(trace, tally);
  // The recording is whole, and it goes to the ends of the range.
  CHECK(recorded["traces"].size() == recorded["header"]["traces"].get<std::size_t>());
  CHECK(tally.steps == recorded["header"]["steps"].get<long>());
  CHECK(tally.bad > 1000);
  CHECK(tally.at_zero > 50);
  CHECK(tally.highest == std::numeric_limits<float>::max());
  CHECK(tally.lowest == std::numeric_limits<float>::denorm_min());
}

}  // namespace
}  // namespace tinymp::test
