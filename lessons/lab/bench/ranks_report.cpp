#include <lessons/lab/bench/ranks.h>
#include <lessons/lab/bench/report_text.h>
#include <lessons/lab/learn/mpirun.h>
#include <lessons/lab/learn/process.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <tinymp/dist/mpi.h>
#include <filesystem>

// ./learn bench ranks: starts the processes of each case, and what they tell.
namespace tinymp::kernels::bench {
namespace {

/// Runs a case in processes of its own.
RanksFigures run_case(const RanksCase& wanted) {
  std::vector<std::string> command;
  if (wanted.ranks > 1) command = {TINYMP_MPIEXEC, "-n", concat(wanted.ranks)};
  command.insert(command.end(),
                 {std::filesystem::read_symlink("/proc/self/exe").string(), "bench", "ranks", "--case"});
  for (const std::string& word : words_of(wanted)) command.push_back(word);
  const lab::Ended ended = lab::run(command);
  const std::size_t at = ended.output.find("{\"seconds\"");
  expect(ended.code == 0 && at != std::string::npos, "bench ranks: ", wanted.ranks, " ranks with ",
         wanted.model, " ended with exit code ", ended.code, " and without figures");
  const auto figures = nlohmann::json::parse(ended.output.substr(at, ended.output.find('\n', at) - at));
  return {0, figures.at("seconds"), figures.at("waits"), figures.at("bytes")};
}

RanksFigures median_of(const std::vector<RanksFigures>& all) {
  const auto of = [&](double RanksFigures::*member) {
    std::vector<double> values;
    for (const RanksFigures& one : all) values.push_back(one.*member);
    return median(values);
  };
  return {0, of(&RanksFigures::seconds), of(&RanksFigures::waits), of(&RanksFigures::bytes)};
}

double samples_per_second(const RanksRow& row) {
  return static_cast<double>(row.measured.samples()) / row.median.seconds;
}

std::string scaling_of(const RanksCase& measured) {
  if (measured.ranks == 1) return "";
  return measured.samples() == 64 ? "strong" : "weak";
}

}  // namespace

RanksReport bench_ranks(bool quick, const std::function<void(const std::string& next)>& progress) {
  if (!dist::has_mpi()) static_cast<void>(dist::join_mpi());  // it says what is missing
  lab::set_up_mpirun(2);
  const std::vector<RanksCase> cases = ranks_cases(quick);
  std::vector<std::vector<RanksFigures>> figures(cases.size());
  for (int round = 0; round < (quick ? 1 : 5); ++round)
    for (std::size_t i = 0; i < cases.size(); ++i) {
      progress(concat("round ", round + 1, ": ", cases[i].model, ", ranks: ", cases[i].ranks));
      figures[i].push_back(run_case(cases[i]));
    }
  RanksReport report;
  std::size_t alone = 0;  // the row of one rank with one thread
  for (std::size_t i = 0; i < cases.size(); ++i) {
    report.rows.push_back({cases[i], median_of(figures[i])});
    if (cases[i].ranks == 1 && cases[i].threads == 1) alone = i;
    report.rows[i].speedup = samples_per_second(report.rows[i]) / samples_per_second(report.rows[alone]);
  }
  return report;
}

nlohmann::ordered_json RanksReport::json() const {
  nlohmann::ordered_json all;
  all["rows"] = nlohmann::ordered_json::array();
  for (const RanksRow& row : rows)
    all["rows"].push_back({{"model", row.measured.model},
                           {"ranks", row.measured.ranks},
                           {"threads", row.measured.threads},
                           {"batch", row.measured.batch},
                           {"scaling", scaling_of(row.measured)},
                           {"wire", concat(row.measured.wire)},
                           {"milliseconds", row.median.seconds * 1e3},
                           {"samples_per_second", samples_per_second(row)},
                           {"speedup", row.speedup},
                           {"share_on_the_wire", row.median.waits},
                           {"bytes_sent", row.median.bytes}});
  return all;
}

report::Table RanksReport::table() const {
  using report::Align, report::short_number;
  report::Table table{{"model", "ranks x threads", "batch", "wire", "samples/s", "speed-up", "waits", "sent"},
                      {Align::left, Align::left, Align::right, Align::left, Align::right, Align::right,
                       Align::right, Align::right},
                      {}};
  for (const RanksRow& row : rows) {
    const RanksCase& of = row.measured;
    const std::string scaling = scaling_of(of);
    table.rows.push_back(
        {of.model, concat(of.ranks, " x ", of.threads, scaling.empty() ? "" : ", " + scaling),
         concat(of.batch), of.ranks == 1 ? "-" : concat(of.wire), report::fixed(samples_per_second(row), 0),
         short_number(row.speedup) + "x", of.ranks == 1 ? "-" : report::percent(row.median.waits),
         of.ranks == 1 ? "-" : report::bytes_text(row.median.bytes)});
  }
  return table;
}

std::string RanksReport::notes() const {
  return "batch: of each rank. speed-up: samples a second beside one rank with one thread. waits: the share "
         "of a\n"
         "step in which rank 0 waits for messages, or for the other rank. sent: bytes of rank 0 in a step.\n";
}

}  // namespace tinymp::kernels::bench
