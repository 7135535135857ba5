#include <lessons/lab/clinic/diagnosis.h>
#include <lessons/lab/clinic/print.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/lessons/chapter_check.h>
#include <filesystem>
#include <fstream>
#include <set>

// The patients of the clinic as they lie on disk: each has all that is said of it, each is ill as it says,
// and of all causes one alone fits.
namespace tinymp::test {
namespace {

using namespace clinic;
namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Logged at a step.
const train::LogRecord& at(const train::Run& run, std::int64_t step) {
  const auto found = std::ranges::find(run.steps, step, &train::LogRecord::step);
  REQUIRE(found != run.steps.end());
  return *found;
}

double flushed_at_worst(const train::Run& run) {
  double worst = 0;
  for (const train::LogRecord& step : run.steps) {
    if (step.flushed > worst) worst = step.flushed;
  }
  return worst;
}

train::Run recorded(int number) { return train::load_run(patient(std::to_string(number)).log()); }

bool is_finite(const train::Run& run) {
  return std::ranges::all_of(run.steps, [](const auto& step) { return std::isfinite(step.loss); });
}

}  // namespace

TEST_CASE("clinic: fifteen patients, each with config, log, hints, cause, cure, and a link") {
  const std::vector<Patient> all = patients();
  REQUIRE(all.size() == 15);
  const std::vector<Cause> known = causes();
  CHECK(known.size() >= 15);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Patient& one = all[i];
    INFO(one.stem);
    CHECK(one.number == static_cast<int>(i) + 1);
    CHECK(fs::file_size(one.log()) < 40'000);
    const Chart chart(one);
    CHECK(chart.run.header.name == one.name());
    CHECK(chart.run.header.steps == one.config.at("steps").get<std::int64_t>());
    CHECK(chart.run.result.has_value());
    CHECK(one.config.at("owner").get<std::string>().size() > 40);
    CHECK(chart.answer.at("hints").size() == 2);
    CHECK(chart.answer.at("reported").get<std::string>().find("https://") != std::string::npos);
    CHECK(chart.text(chart.answer.at("why")).size() > 100);
    CHECK(chart.text(chart.answer.at("cure_text")).size() > 20);
    CHECK(cured(one) != one.config);
    const std::string cause = chart.answer.at("cause");
    CHECK(std::ranges::count(known, cause, &Cause::id) == 1);
    CHECK(seen.insert(cause).second);
    for (const auto& hint : chart.answer.at("hints"))
      CHECK(chart.text(hint).find(cause) == std::string::npos);
    for (const auto& [id, text] : chart.answer.at("wrong").items()) {
      CHECK(std::ranges::count(known, id, &Cause::id) == 1);
      CHECK(id != cause);
    }
  }
}

TEST_CASE("clinic: of all causes one alone fits a patient, and against each other one there is a reason") {
  for (const Patient& one : patients()) {
    const Chart chart(one);
    for (const Cause& cause : causes()) {
      INFO(one.stem << ", " << cause.id);
      const std::string reason = chart.against(cause), missing = chart.missing_sign(cause);
      if (chart.is_right(cause.id)) {
        CHECK(reason == "");
        CHECK(missing == "");
      } else {
        CHECK(reason.size() > 30);
        CHECK(missing.size() > 20);  // what was written by hand may be wrong; the log excludes it as well
        CHECK(reason.find_first_of("{}") == std::string::npos);
        CHECK(missing.find_first_of("{}") == std::string::npos);
      }
    }
  }
}

TEST_CASE("clinic: each patient is ill as it says") {
  {
    const train::Run flat = recorded(1);
    CHECK(flat.result->taken == 0);
    CHECK(flat.result->skipped == 300);
    CHECK(is_finite(flat));
  }
  {
    const train::Run plateau = recorded(2);
    CHECK(flushed_at_worst(plateau) > 0.5);
    CHECK(plateau.result->skipped == 0);
    CHECK(plateau.steps.back().loss > at(plateau, 10).loss);
  }
  {
    const train::Run crawls = recorded(3);
    CHECK(is_finite(crawls));
    CHECK(crawls.result->skipped <= 5);
    CHECK(flushed_at_worst(crawls) < 0.01);
    CHECK(crawls.result->value < 20);
  }
  {
    const train::Run stalls = recorded(4);
    CHECK(stalls.steps.back().absorbed > 0.8);
    CHECK(flushed_at_worst(stalls) < 0.01);
    CHECK(stalls.result->value < 25);
  }
  {
    const train::Run stops = recorded(5);
    CHECK(is_finite(stops));
    CHECK(at(stops, 305).skips == 0);
    CHECK(at(stops, 305).loss < 0.6);
    CHECK(stops.result->skipped == 420 - 306);  // each one after the first
    CHECK(at(stops, 310).skipped);
    CHECK(stops.steps.back().scale < 1e-20);
  }
  {
    const train::Run dead = recorded(6);
    CHECK(std::isnan(dead.steps.front().loss));
    CHECK(dead.result->taken == 0);
    CHECK(dead.findings.at(0).direction == "input");
  }
  {
    const train::Run second = recorded(7);
    CHECK(std::isfinite(second.steps.front().loss));
    CHECK(second.result->first_nonfinite_step == 2);
    CHECK(second.result->taken == 1);
  }
  {
    const train::Run deep = recorded(8);
    CHECK(deep.result->skipped == 0);
    CHECK(at(deep, 2).scale == deep.steps.front().scale / 2);  // it was noticed
    CHECK(deep.result->first_nonfinite_step == 2);
    CHECK(deep.findings.at(0).direction == "backward");
  }
  {
    const train::Run five = recorded(9);
    CHECK(at(five, 5).loss < five.steps.front().loss);
    CHECK(five.result->first_nonfinite_step == 6);
    CHECK(five.findings.at(0).op.find("batch_norm") != std::string::npos);
  }
  {
    const train::Run fades = recorded(10);
    CHECK(is_finite(fades));
    CHECK(fades.result->skipped > 50);
    CHECK(fades.steps.back().scale < 1e-10);
    CHECK(at(fades, 200).skips < 20);
    const bool some_taken_late =
        at(fades, 245).skipped != at(fades, 240).skipped || at(fades, 245).skips - at(fades, 200).skips < 45;
    CHECK(some_taken_late);  // not all at once, as patient 5
  }
  {
    const train::Run two_faces = recorded(11);
    CHECK(two_faces.result->skipped == 1);
    CHECK(two_faces.result->first_nonfinite_step == 150);
    CHECK(two_faces.steps.back().loss < 0.6);
    CHECK(!(two_faces.result->value > 20));
  }
  {
    const train::Run calm = recorded(12);
    CHECK(is_finite(calm));
    CHECK(calm.result->skipped == 0);
    CHECK(calm.findings.empty());
    CHECK(flushed_at_worst(calm) > 0.99);  // all but the last bias, in each step that is measured
    CHECK(calm.sizes.size() >= 2);
    for (const train::StepSizes& sizes : calm.sizes)
      for (const train::ParameterSizes& p : sizes.parameters) {
        INFO(p.name);
        CHECK((p.name == "layer 2 bias" || p.gradients.flushed == p.gradients.sizes.nonzero()));
      }
    CHECK(calm.result->value < 25);
  }
  {
    const train::Run dark = recorded(13);
    CHECK(is_finite(dark));
    CHECK(dark.result->skipped == 0);
    CHECK(dark.findings.empty());
    CHECK(at(dark, 150).loss < 0.8);  // its own step is as the others
    CHECK(at(dark, 155).loss > 2);
    CHECK(dark.steps.back().loss > 2);
    CHECK(at(dark, 150).flushed < 0.2);
    CHECK(at(dark, 200).flushed > 0.9);
    CHECK(dark.result->value < 25);
  }
  {
    const train::Run other = recorded(14);
    CHECK(is_finite(other));
    CHECK(other.result->skipped == 0);
    CHECK(other.findings.empty());
    for (const train::LogRecord& step : other.steps) {  // each tenth is the second head's
      INFO(step.step);
      CHECK((step.step % 10 != 0 || std::fabs(step.loss - std::log(10.0)) < 0.05));
      CHECK((step.step % 10 == 0 || step.step < 200 || step.loss < 1));
    }
    CHECK(flushed_at_worst(other) > 0.9);  // the body's, in a step of the second head
    CHECK(at(other, 1).flushed < 0.1);
    CHECK(other.result->value < 25);
  }
  {
    const train::Run restless = recorded(15);
    CHECK(is_finite(restless));
    CHECK(restless.result->skipped == 0);
    CHECK(restless.findings.empty());
    CHECK(flushed_at_worst(restless) < 0.01);
    double climbs = 0;
    for (std::size_t i = 1; i < restless.steps.size(); ++i)
      climbs = std::max(climbs, restless.steps[i].loss - restless.steps[i - 1].loss);
    CHECK(climbs > 0.3);
    CHECK(restless.result->value < 100 * 2.0 / 3);  // "more than a third of the test images are wrong"
  }
}

TEST_CASE("clinic: the ward quotes the logs") {
  const std::string ward = text_of(folder() + "/README.md");
  std::string faults;
  for (const Patient& one : patients()) {
    const std::size_t begin = ward.find("## " + one.title());
    INFO(one.title());
    REQUIRE(begin != std::string::npos);
    const std::size_t end = std::min(ward.find("\n## ", begin), ward.size());
    const std::string part = ward.substr(begin, end - begin);
    const Chart chart(one);
    nlohmann::ordered_json results{{"questions", nlohmann::ordered_json::array()},
                                   {"claims", nlohmann::ordered_json::array()},
                                   {"numbers", nlohmann::ordered_json::object()},
                                   {"said", excerpt(chart.run)}};
    for (const auto& [name, value] : chart.facts)
      if (std::isfinite(value)) results["numbers"][name] = value;
    results["said"].push_back(one.config.dump());
    const Readme readme = read_readme(part);
    const Results quoted(results);
    for (const Fault& fault : ChapterCheck(readme, quoted).faults())
      faults += one.title() + ": " + fault.what + "\n";
    CHECK(part.find("<!-- printed -->") != std::string::npos);
    std::string owner = one.config.at("owner");
    std::string flowing = part;
    std::ranges::replace(flowing, '\n', ' ');
    for (std::size_t quote; (quote = flowing.find(" > ")) != std::string::npos;)
      flowing.replace(quote, 3, " ");
    CHECK(flowing.find(owner) != std::string::npos);
  }
  CHECK(faults == "");
  for (const Cause& cause : causes()) {
    INFO(cause.id);
    CHECK(ward.find("| `" + cause.id + "` | " + cause.line + " | ") != std::string::npos);
    CHECK(ward.find("](" + cause.taught + ")") != std::string::npos);
    const std::string file = cause.taught.substr(0, cause.taught.find('#'));
    CHECK(fs::exists(fs::path(folder()) / file));
  }
}

TEST_CASE("JSON of the clinic: bounded, and refused with a short message") {
  const files::Folder folder;
  const std::string path = folder / "answer.json";
  const auto complaint = [&](const std::string& text) {
    files::write(path, files::Bytes(text.begin(), text.end()));
    const std::string message = files::message<Error>([&] { clinic::read_json(path); });
    CHECK(message.size() < path.size() + 250);
    return message;
  };
  CHECK(complaint("{\"cure\":{}}").empty());
  CHECK(complaint(std::string(500'000, '[') + std::string(500'000, ']')) ==
        path + ": nested more than 64 deep");
  CHECK(complaint(std::string(2 << 20, ' ')).find("more than 1 MB") != std::string::npos);
  CHECK(complaint("\"" + std::string(1000, 'x')).find("parse error") != std::string::npos);
  CHECK(files::message<Error>([&] { clinic::read_json("/dev/zero"); }) ==
        "cannot read /dev/zero: no regular file");
}

}  // namespace tinymp::test
