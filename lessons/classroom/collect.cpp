#include <sys/stat.h>

#include <fmt/format.h>
#include <lessons/classroom/class_report.h>
#include <lessons/classroom/commands.h>
#include <lessons/classroom/files.h>
#include <lessons/learn/command_line.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

// ./learn collect: the submissions of a class. All is judged first and written at the end, file by file as a
// whole: who interrupts it keeps what was there.
namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> submissions_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed))
    if (entry.is_directory(failed) && !entry.is_symlink(failed) &&
        entry.path().filename().string().front() != '.')
      found.push_back(entry.path());
  if (failed) throw UsageError(concat("cannot read the folder ", folder.string(), ": ", failed.message()));
  std::ranges::sort(found);
  if (found.empty())
    throw UsageError(concat("there is no folder in ", folder.string(), "; each student's mine/ is one"));
  return found;
}

std::vector<train::Run> runs_of(const Submission& submission) {
  std::vector<train::Run> runs;
  for (const fs::path& path : submission.runs()) {
    try {
      runs.push_back(train::load_run(path.string()));
    } catch (const std::exception& error) {
      std::cerr << "left out: " << error.what() << "\n";
    }
  }
  return runs;
}

/// Whether `path` lies in `folder`, or is it.
bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path way = fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(folder));
  return !way.empty() && *way.begin() != "..";
}

void write_all(const fs::path& out, const std::vector<Grades>& all, std::vector<train::Run> runs,
               double least) {
  const std::vector<Pair> pairs = alike(all, least);
  for (const Grades& grades : all)
    write_file(out / "students" / (grades.student + ".json"), grades_json(grades));
  write_file(out / "alike.csv", pairs_csv(pairs));
  write_file(out / "class.html", class_html(all, pairs, std::move(runs)));
  write_file(out / "class.csv", class_csv(all));
  if (!pairs.empty())
    std::cout << fmt::format("\n{} {} alike: {}\n", pairs.size(), pairs.size() == 1 ? "pair is" : "pairs are",
                             (out / "alike.csv").string());
}

}  // namespace

int collect(int argc, const char* const* argv) {
  std::string folder, out = "class";
  double least = 0.8;
  bool trust = false;
  CLI::App app("Grades every folder in FOLDER as one student's, behind a fence: a table and a page.",
               "./learn collect");
  app.add_option("FOLDER", folder, "Holds a folder a student, named as the student")->required();
  app.add_option("--out", out, "Where class.csv, class.html, alike.csv and students/ go")
      ->capture_default_str();
  app.add_option("--alike", least, "From which likeness on a pair is listed")->capture_default_str();
  app.add_flag("--trust", trust, "Where no fence works: all of it is known to be harmless");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  if (lies_in(out, folder)) throw UsageError("--out lies among the submissions; name a folder elsewhere");

  const std::vector<fs::path> submissions = submissions_in(folder);
  umask(022);  // a submission that root grades runs as another user, and has to see its check
  const Scratch scratch("collect");
  Grading grading{.exercises = exercises(), .scratch = scratch.path()};
  grading.fence = best_fence(scratch.path(), trust);
  std::cout << "Sandbox: " << in_words(grading.fence) << "\n\n";
  std::vector<Grades> all;
  std::vector<train::Run> runs;
  for (const fs::path& path : submissions) {
    const Submission submission(path);
    all.push_back(grade(submission, path.filename().string(), grading));
    for (train::Run& run : runs_of(submission)) runs.push_back(std::move(run));
    std::cout << fmt::format("  {:<30} {:>4} of {}\n", all.back().student, all.back().score(),
                             all.back().most())
              << std::flush;
  }
  const std::size_t curves = runs.size();
  write_all(out, all, std::move(runs), least);
  std::cout << fmt::format("\n{} students, {} recorded runs. Table: {}  Page: {}\n", all.size(), curves,
                           (fs::path(out) / "class.csv").string(), (fs::path(out) / "class.html").string());
  return 0;
}

}  // namespace tinymp::classroom
