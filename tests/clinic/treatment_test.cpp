#include <unistd.h>

#include <lessons/lab/clinic/commands.h>
#include <lessons/lab/clinic/diagnosis.h>
#include <lessons/lab/clinic/hand_loop.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/progress.h>
#include <tests/catch.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

// What the program does: it repeats each recorded run from its config, heals it, and judges answers.
namespace tinymp::test {
namespace {

using namespace clinic;
namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("tinymp_clinic_" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

struct Said {
  int code;
  std::string out;
};
Said check_with(std::vector<const char*> words) {
  words.insert(words.begin(), "clinic");
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  const int code = lab::guarded([&] { return check(static_cast<int>(words.size()), words.data()); });
  std::cout.rdbuf(before);
  return {code, out.str()};
}

const Label label{"", "a test", ""};

}  // namespace

TEST_CASE("clinic: a config repeats the first steps of its log, bit for bit") {
  const Folder folder;
  for (const Patient& one : patients()) {
    INFO(one.stem);
    const train::Run again = run(one.config, label_of(one), folder / one.stem, 10);
    CHECK(again.steps.size() >= 2);
    const train::Run log = train::load_run(one.log());
    CHECK(is_beginning_of(log, again));
    train::Run other = again;
    other.steps.back().loss = std::nextafter(other.steps.back().loss, 0.0);
    CHECK(is_beginning_of(log, other) == std::isnan(again.steps.back().loss));
  }
}

TEST_CASE("clinic: with the lines of the library the loop by hand has the bits of train::run") {
  const Folder folder;
  const data::Split data = data::load_images("cut");
  for (const int number : {3, 8, 12, 13}) {  // with the cure: the right order, steps that are skipped, FP8
    const Patient one = patient(std::to_string(number));
    Json config = cured(one);
    config.erase("damaged image");
    const Program program = program_of(config);
    CHECK(program.is_the_library_s);
    CHECK(program_of(one.config).is_the_library_s == (number == 12));  // of 12 the recipe alone is wrong
    train::Plan plan = plan_of(config, data);
    plan.steps = 30;
    plan.log_every = 1;
    plan.shadow_every = 10;
    plan.histogram_every = 15;
    const train::Run by_hand = hand_loop(plan, program, folder / ("hand" + std::to_string(number)));
    const train::Run by_library = train::run(plan, folder / ("library" + std::to_string(number)));
    CHECK(by_hand.steps.size() == 30);
    CHECK(is_beginning_of(by_library, by_hand));
    CHECK(by_hand.result->value == by_library.result->value);
    CHECK(by_hand.result->skipped == by_library.result->skipped);
    CHECK(by_hand.sizes.size() == by_library.sizes.size());
  }
}

TEST_CASE("clinic: what is cured stays well for its first steps") {
  const Folder folder;
  for (const Patient& one : patients()) {
    if (one.number == 2 || one.number == 9) continue;  // large batches: below
    INFO(one.stem);
    const train::Run healthy = run(cured(one), label, folder / one.stem, 60);
    CHECK(healthy.result->first_nonfinite_step == 0);
    CHECK(healthy.result->skipped <= 12);
    CHECK(std::isfinite(healthy.result->value));
    CHECK(healthy.steps.back().loss < healthy.steps.front().loss);
  }
}

namespace {

/// The patient's own training without FP16, without S, and on sound images.
Json in_fp32(const Patient& one, const data::Split& data) {
  Json config = cured(one);
  config["recipe"] = {{"scaling", {{"kind", "none"}}}};
  config["step"] = {"backward of loss", "step", "zero_grad"};
  if (plan_of(one.config, data).clip > 0) config["step"].insert(config["step"].begin() + 1, "clip to norm 1");
  config.erase("damaged image");
  config.erase("micro-batches");
  return config;
}

/// Patient 15 where memory is large enough: its batch is one part.
Json in_one_part(Json config) {
  config.erase("micro-batches");
  config["step"][0] = "backward of S x loss";
  return config;
}

}  // namespace

TEST_CASE("clinic: parts that count with their share are the batch, whatever their sizes") {
  const Folder folder;
  Json config = patient("15").config;
  config["log_every"] = 1;
  const train::Run whole = run(in_one_part(config), label, folder / "whole", 8),
                   means = run(config, label, folder / "means", 8);
  config["step"][0] = cured(patient("15")).at("step")[0];
  const train::Run shares = run(config, label, folder / "shares", 8);
  for (std::size_t i = 0; i < whole.steps.size(); ++i) {
    INFO(whole.steps[i].step << ": " << whole.steps[i].loss << ", " << shares.steps[i].loss);
    CHECK(std::abs(shares.steps[i].loss / whole.steps[i].loss - 1) < 1e-3);
    CHECK(std::abs(means.steps[i].loss / whole.steps[i].loss - 1) > 1e-3);
  }
  config["micro-batches"] = {64};
  CHECK(is_beginning_of(whole, run(config, label, folder / "one", 8)));
  config["micro-batches"] = {21, 21, 21};
  CHECK_THROWS_AS(run(config, label, folder / "too few", 8), Error);
}

TEST_CASE("clinic: whole runs: as recorded, and cured as in FP32", "[exhaustive]") {
  const Folder folder;
  const data::Split data = data::load_images("cut");
  constexpr int seeds = 3;  // runs as short as patient 8's scatter
  for (const Patient& one : patients()) {
    INFO(one.stem);
    const train::Run log = train::load_run(one.log());
    const train::Run again = run(one.config, label, folder / (one.stem + "_again"));
    CHECK(again.steps.size() == log.steps.size());
    CHECK(is_beginning_of(log, again));
    CHECK((again.result->value == log.result->value || std::isnan(log.result->value)));

    double value = 0, fp32 = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      Json healthy = cured(one), single = in_fp32(one, data);
      healthy["seed"] = single["seed"] = seed;
      const std::string name = folder / (one.stem + "_" + std::to_string(seed));
      const train::RunResult result = *run(healthy, label, name + "_cured").result;
      CHECK(result.skipped <= 12);
      value += result.value / seeds;
      fp32 += run(single, label, name + "_fp32").result->value / seeds;
    }
    const double ill = log.result->value;
    INFO("ill " << ill << ", cured " << value << ", FP32 " << fp32);
    if (log.header.higher_is_better) {
      CHECK(value > fp32 - 2);
      CHECK((!(ill > value - 4) || log.result->skipped > 100));
    } else {
      CHECK(value < 1.05 * fp32);
      CHECK(ill > 1.5 * value);
    }
  }
}

TEST_CASE("clinic: what an owner says of FP32 is so", "[exhaustive]") {
  const Folder folder;
  for (const int number : {2, 4, 6, 10, 14}) {
    const Patient one = patient(std::to_string(number));
    INFO(one.stem);
    Json in_fp32 = one.config;
    in_fp32["recipe"] = {{"scaling", one.config.at("recipe").at("scaling")}};
    in_fp32.erase("scales");  // FP32 has none
    const train::Run healthy = run(in_fp32, label, folder / one.stem);
    CHECK(healthy.result->first_nonfinite_step == 0);
    const double ill = train::load_run(one.log()).result->value, value = healthy.result->value;
    INFO("FP16 " << ill << ", FP32 " << value);
    CHECK((healthy.header.higher_is_better ? !(ill > value - 4) : ill > 1.5 * value));
  }
  // Of patient 15: well on the large card, and in FP32 as ill as in FP16.
  for (int seed = 0; seed < 3; ++seed) {
    Json ill = patient("15").config;
    ill["seed"] = seed;
    Json ill_in_fp32 = ill;
    ill_in_fp32["recipe"] = {{"scaling", ill.at("recipe").at("scaling")}};
    const std::string name = folder / ("15_" + std::to_string(seed));
    const double well = run(in_one_part(ill), label, name).result->value;
    CHECK(well > 80);
    CHECK(run(ill, label, name + "_ill").result->value < well - 10);
    CHECK(run(ill_in_fp32, label, name + "_fp32").result->value < well - 10);
  }
}

TEST_CASE("clinic: right is 0, wrong is 1 and says why, misuse is 2, and what was solved is written down") {
  const Folder folder;
  const std::string file = folder / "progress.txt";
  setenv("TINYMP_PROGRESS", file.c_str(), 1);
  CHECK(check_with({}).code == 0);
  for (const Patient& one : patients()) {
    const Chart chart(one);
    const std::string number = std::to_string(one.number), right = chart.answer.at("cause");
    INFO(one.stem);
    for (const Cause& cause : causes()) {
      if (cause.id == right) continue;
      const Said said = check_with({number.c_str(), cause.id.c_str()});
      CHECK(said.code == 1);
      CHECK(said.out.find("No: it is not " + cause.id) == 0);
    }
    const Said said = check_with({number.c_str(), right.c_str()});
    CHECK(said.code == 0);
    CHECK(said.out.find("Right: ") == 0);
    CHECK(said.out.find("./learn clinic run " + number + " --cured") != std::string::npos);
    CHECK(lab::Progress(file).first("clinic " + number, "solved").has_value());
  }
  CHECK(check_with({"3", "clip"}).code == 2);
  CHECK(check_with({"16", "mask"}).code == 2);
  CHECK(check_with({"3", "mask", "more"}).code == 2);
  CHECK(check_with({"--hint"}).code == 2);
  const Said first = check_with({"3", "--hint"}), second = check_with({"3", "--hint"}),
             third = check_with({"3", "--hint"});
  CHECK(first.code == 0);
  CHECK(first.out != second.out);
  CHECK(second.out == third.out);
  CHECK(check_with({"4"}).out.find("Patient 4") == 0);
  unsetenv("TINYMP_PROGRESS");
}

TEST_CASE("progress: lines are added, and lines that are none are left alone") {
  const Folder folder;
  const std::string file = folder / "progress.txt";
  std::ofstream(file)
      << "clinic 3 solved 2026-05-04T09:38:00Z\n\nmy own note\nclinic 3 solved 2026-05-05T00:00:00Z\n";
  lab::Progress progress(file);
  CHECK(progress.first("clinic 3", "solved") == "2026-05-04T09:38:00Z");
  CHECK(!progress.first("clinic 30", "solved"));
  CHECK(progress.count("clinic 3", "solved") == 2);
  progress.add("lesson 1", "solved");
  CHECK(lab::Progress(file).count("lesson 1", "solved") == 1);
  CHECK(lab::Progress(file).count("clinic 3", "solved") == 2);
  CHECK(lab::Progress(folder / "none.txt").count("clinic 3", "solved") == 0);
  CHECK_THROWS_AS(lab::Progress(folder / "no/folder.txt").add("clinic 1", "hint"), Error);
}

}  // namespace tinymp::test
