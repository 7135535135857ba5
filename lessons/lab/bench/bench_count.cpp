#include <lessons/lab/bench/measure.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/table.h>
#include <tinymp/base/error.h>
#include <unistd.h>
#include <iostream>
#include <sstream>

// ./learn bench gemm --count: what each rung asks of memory. The program count_gemm counts.
namespace tinymp::lab {
namespace {

constexpr double sector_bytes = 32;

/// "naive 131584 197632 8421376 0 0": a rung, then requests, sectors, bytes, shared accesses and conflicts.
std::vector<std::string> row_of(const std::string& line) {
  std::istringstream words(line);
  std::string rung;
  std::uint64_t requests = 0, sectors = 0, bytes = 0, shared = 0, conflicts = 0;
  words >> rung >> requests >> sectors >> bytes >> shared >> conflicts;
  expect(bool(words), "bench gemm --count: count_gemm printed '", line, "'");
  const auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  return {rung,
          std::to_string(sectors),
          std::to_string(conflicts),
          report::fixed(ratio(sectors, requests), 1),
          report::percent(ratio(bytes, sectors) / sector_bytes),
          shared == 0 ? "-" : report::percent(ratio(conflicts, shared))};
}

}  // namespace

int bench_count(const std::vector<std::string>& product, const std::string& title, bool plain) {
  std::vector<std::string> command{(own_folder() / "count_gemm").string()};
  command.insert(command.end(), product.begin(), product.end());
  const Ended ended = run(command);
  if (ended.code == -1) throw MissingError("count_gemm is not built; ./learn bench gemm --count builds it");
  if (ended.code != 0) return ended.code;
  report::Table table{
      {"rung", "sectors", "conflicts", "sectors a request", "used of them", "conflicts of shared"},
      {report::Align::left, report::Align::right, report::Align::right, report::Align::right,
       report::Align::right, report::Align::right},
      {}};
  std::istringstream lines(ended.output);
  for (std::string line; std::getline(lines, line);) table.rows.push_back(row_of(line));
  std::cout << title << ", counted on the emulated GPU\n\n"
            << report::format_table(table, report::terminal_style(STDOUT_FILENO, plain)) << R"(
sectors    of 32 bytes, that all requests of warps to global memory take
conflicts  turns that warps wait since lanes want different words of one of the 32 banks of shared memory
used       bytes that lanes want, of the bytes of those sectors; above 100 % lanes share them
)";
  return 0;
}

}  // namespace tinymp::lab
