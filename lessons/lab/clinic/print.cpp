#include <unistd.h>

#include <fmt/format.h>
#include <lessons/lab/clinic/diagnosis.h>
#include <lessons/lab/clinic/print.h>
#include <lessons/lab/learn/progress.h>
#include <lessons/lab/report/table.h>
#include <algorithm>
#include <iostream>

namespace tinymp::clinic {
namespace {

report::TerminalStyle style() { return report::terminal_style(STDOUT_FILENO); }

/// Prints names only, so that the patients above stay on a screen of 24 lines.
void print_in_columns(const std::vector<Cause>& causes) {
  std::size_t widest = 0;
  for (const Cause& cause : causes) widest = std::max(widest, cause.id.size());
  const int width = static_cast<int>(widest) + 2, columns = std::max(1, style().width / width);
  int column = 0;
  for (const Cause& cause : causes) {
    std::cout << "  " << report::bold(cause.id, style());
    column = (column + 1) % columns;
    std::cout << (column == 0 || &cause == &causes.back() ? "\n"
                                                          : std::string(widest - cause.id.size(), ' '));
  }
}

}  // namespace

void print_text(const std::string& text) {
  for (const std::string& line : report::wrap(text, std::max(40, std::min(100, style().width) - 2)))
    std::cout << "  " << line << "\n";
}

void print_ward() {
  const lab::Progress progress(lab::progress_path());
  const std::vector<Patient> all = patients();
  const auto entry = [&](const Patient& one) {
    const bool solved = progress.first(fmt::format("clinic {}", one.number), "solved").has_value();
    return fmt::format("  {:28} {}", one.title(), solved ? "solved" : "-");
  };
  std::cout << "Patients\n";
  const std::size_t lines =
      (all.size() + 1) / 2;  // in two columns, so that the causes stay on the screen, too
  for (std::size_t i = 0; i < lines; ++i) {
    const bool has_second = lines + i < all.size();
    std::cout << (has_second ? fmt::format("{:40}{}\n", entry(all[i]), entry(all[lines + i]))
                             : entry(all[i]) + "\n");
  }
  std::cout << "\nCauses: one for each patient (lessons/clinic/README.md tells what each is)\n";
  print_in_columns(causes());
  std::cout << "\n./learn clinic 3                what its owner says, and where to look\n"
               "./learn check clinic 3 CAUSE    is that the cause?   --hint   helps\n";
}

void print_patient(const Patient& one) {
  std::cout << report::bold(one.title(), style()) << "\n";
  print_text("\"" + one.config.at("owner").get<std::string>() + "\"");
  std::cout << "\n";
  for (const std::string& line : excerpt(train::load_run(one.log()))) std::cout << line << "\n";
  std::cout << fmt::format(
      "\n  lessons/clinic/cases/{0}.json   the config\n  lessons/clinic/runs/{0}.jsonl   the recorded run\n"
      "  ./learn compare lessons/clinic/runs/{0}.jsonl   draws it\n"
      "  ./learn clinic run {1}            trains it again\n"
      "  ./learn check clinic {1} CAUSE    is that the cause?\n",
      one.stem, one.number);
}

}  // namespace tinymp::clinic
