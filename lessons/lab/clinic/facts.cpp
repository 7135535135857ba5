#include <lessons/lab/clinic/facts.h>
#include <lessons/lab/clinic/micro_batches.h>
#include <lessons/lab/report/number.h>
#include <algorithm>
#include <cmath>

namespace tinymp::clinic {
namespace {

void add_log(const train::Run& run, Facts& facts) {
  const train::RunResult result = run.result.value_or(train::RunResult{});
  facts["steps"] = static_cast<double>(result.taken + result.skipped);
  facts["taken"] = static_cast<double>(result.taken);
  facts["skipped"] = static_cast<double>(result.skipped);
  facts["share skipped"] = facts["skipped"] / facts["steps"];
  facts["NaN from"] = static_cast<double>(result.first_nonfinite_step);
  facts["result"] = result.value;
  const auto most = [&](const char* name, double value) {
    double& fact = facts.try_emplace(name, value).first->second;
    if (std::isnan(fact) || value > fact) fact = value;
  };
  facts["lost"] = facts["flushed"] = facts["zero"] = facts["loss highest"] = facts["loss last"] =
      train::not_measured;
  double lowest_loss = train::not_measured, lowest_scale = train::not_measured;
  const auto least = [](double& fact, double value) {
    if (std::isnan(fact) || value < fact) fact = value;
  };
  for (const train::LogRecord& step : run.steps) {
    most("lost", step.underflowed + step.absorbed);
    most("flushed", step.flushed);
    most("zero", step.zero);
    least(lowest_scale, step.scale);
    most("S highest", step.scale);
    if (!std::isfinite(step.loss)) continue;
    most("loss highest", step.loss);
    least(lowest_loss, step.loss);
    facts["loss last"] = step.loss;
  }
  facts["loss lowest"] = lowest_loss;
  facts["S lowest"] = lowest_scale;
  const train::LogRecord &first = run.steps.front(), &last = run.steps.back();
  facts["loss first"] = first.loss;
  facts["loss rise"] = facts["loss highest"] / first.loss;
  facts["S first"] = first.scale;
  facts["S last"] = last.scale;
  facts["S x first loss"] = first.scale * first.loss;
  const auto skipped = std::ranges::find_if(run.steps, [](const auto& step) { return step.skips > 0; });
  facts["skipped by"] = skipped == run.steps.end() ? 0 : static_cast<double>(skipped->step);
  // The first logged step after which no step was taken.
  auto dead = run.steps.end();
  while (dead != run.steps.begin() && last.step - (dead - 1)->step == last.skips - (dead - 1)->skips) --dead;
  facts["dead from"] = dead == run.steps.end() ? 0 : static_cast<double>(dead->step);
}

void add_findings(const train::Run& run, Facts& facts) {
  for (const char* fact : {"bad input", "bad forward", "bad backward"}) facts[fact] = 0;
  for (const train::Finding& finding : run.findings)
    if (finding.kind == "first bad") facts["bad " + finding.direction] = 1;
  facts["found at"] = run.findings.empty() ? 0 : static_cast<double>(run.findings.front().step);
}

void add_step(const std::vector<std::string>& step, Facts& facts) {
  const auto at = [&](std::string_view begins) {
    return std::ranges::find_if(step, [&](const std::string& line) { return line.starts_with(begins); });
  };
  const auto clips = at("clip"), divides = at("divide"), leaves = at("if one is not finite"),
             zero = at("zero_grad");
  facts["clips"] = clips != step.end();
  facts["mean of means"] = at(means_line) != step.end();
  facts["divisions"] = static_cast<double>(
      std::ranges::count_if(step, [](const std::string& line) { return line.starts_with("divide"); }));
  facts["clips before the division"] = clips < divides;
  facts["looks before it steps"] = at("step if") != step.end() || leaves != step.end();
  facts["a bad step ends in zero_grad"] = zero < leaves || leaves == step.end();
}

void add_config(const Json& config, Facts& facts) {
  const Json &recipe = config.at("recipe"), &model = config.at("model"), &optimizer = config.at("optimizer");
  const auto is_f16 = [](const Json& in, const char* key) { return in.value(key, "f32") == "f16"; };
  const std::string kind = recipe.at("scaling").at("kind");
  facts["S is fixed"] = kind == "static";
  facts["S is dynamic"] = kind == "dynamic";
  facts["no S"] = kind == "none";
  facts["computes in FP16"] = is_f16(recipe, "compute");
  facts["errors in E4M3"] = recipe.value("fp8_backward", "f32") == "e4m3";
  facts["scaled tensors"] = recipe.value("fp8_scaling", "none") != "none";
  facts["delayed scaling"] = recipe.value("fp8_scaling", "none") == "delayed";
  facts["history"] = recipe.value("fp8_history", 0);
  facts["second head every"] = model.value("second head every", 0);
  facts["rolls all histories"] =
      config.contains("scales") &&
      config.at("scales").at(0).get<std::string>().find("did not run") != std::string::npos;
  facts["master in FP16"] = is_f16(recipe, "master");
  facts["moments in FP16"] = is_f16(recipe, "state");
  facts["Adam"] = optimizer.at("name") == "adam";
  facts["lr"] = optimizer.at("lr").get<double>();
  facts["batch norm"] = model.contains("sums");
  facts["batch norm in FP16"] = is_f16(model, "sums");
  facts["averages move in forward"] = config.value("running averages", "") == "move in forward";
  facts["damaged image"] = config.contains("damaged image");
  facts["mask"] = std::abs(model.value("hidden classes get", 0.0));
  facts["separate softmax"] = config.contains("loss");
  facts["loss in FP16"] = 0;  // S multiplies in FP32 in all of these programs
  facts["schedule"] = config.contains("schedule");
  const auto parts = config.value("micro-batches", std::vector<double>{});
  facts["micro-batches"] = static_cast<double>(parts.size());
  facts["smallest micro-batch"] = parts.empty() ? 0 : *std::ranges::min_element(parts);
  facts["largest micro-batch"] = parts.empty() ? 0 : *std::ranges::max_element(parts);
  facts["unequal micro-batches"] = facts["smallest micro-batch"] < facts["largest micro-batch"];
  add_step(config.at("step").get<std::vector<std::string>>(), facts);
}

std::string sentence(const train::Run& run) {
  return run.findings.empty() ? "nothing" : run.findings.front().sentence;
}

/// An upper bound loses its sign: "<0.1 %" becomes 0.1 %.
std::string percent(double share) {
  const std::string text = report::percent(share);
  return text.substr(text.starts_with('<'));
}

std::string number(const std::string& name, double value) {
  if (name.starts_with("S ") && !name.starts_with("S x")) return report::scale_text(value);
  if (name.starts_with("loss") || name == "result") return report::short_number(value, 4);
  return std::abs(value - std::floor(value)) == 0 && std::abs(value) < 1e6
             ? std::to_string(static_cast<std::int64_t>(value))
             : report::short_number(value, 3);
}

}  // namespace

Facts facts_of(const train::Run& run, const Json& config) {
  expect(!run.steps.empty(), run.path, " has no step");
  Facts facts;
  add_log(run, facts);
  add_findings(run, facts);
  add_config(config, facts);
  return facts;
}

std::string filled(const std::string& text, const Facts& facts, const train::Run& run) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    out += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = text.find('}', open);
    expect(close != std::string::npos, "a text with '{' and no '}': ", text);
    const std::string name = text.substr(open + 1, close - open - 1),
                      bare = name.substr(name.starts_with('%'));
    const auto fact = facts.find(bare);
    expect(fact != facts.end() || name == "first bad", "a text quotes '", name,
           "', which is no fact: ", text);
    out += name == "first bad" ? sentence(run)
           : name != bare      ? percent(fact->second)
                               : number(name, fact->second);
    at = close + 1;
  }
  return out;
}

}  // namespace tinymp::clinic
