#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <lessons/lab/classroom/alarm.h>
#include <lessons/lab/classroom/class_report.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/homework.h>
#include <lessons/lab/classroom/plain_name.h>
#include <lessons/lab/classroom/self_test.h>
#include <lessons/lab/classroom/try_run.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/words.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>

// ./learn collect: grades the submissions of a class. Each student's results are written as soon as the
// student is judged, each file as a whole, so Ctrl-C loses no finished result.
namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::vector<fs::path> submissions_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  const fs::directory_iterator entries(folder, failed);
  if (failed) throw UsageError(concat("cannot read the folder ", folder.string(), ": ", failed.message()));
  for (const fs::directory_entry& entry : entries) {
    std::error_code none;
    const std::string name = entry.path().filename().string();
    if (name == "__MACOSX") continue;
    if (!entry.is_directory(none) || entry.is_symlink(none)) {
      if (name.front() != '.')
        std::cerr << lab::fitted_for_errors(
                         concat("left out: ", plain_line(name), ", no folder of its own; unpack archives"))
                  << "\n";
      continue;
    }
    if (name == "mine" || name == "runs")
      throw UsageError(concat(folder.string(), " holds ", name,
                              ": it is one student's own folder. Name the folder ",
                              "above, which holds a folder a student"));
    if (name.front() == '.')
      std::cerr << lab::fitted_for_errors(concat("left out: ", plain_line(name), ", a hidden folder"))
                << "\n";
    else
      found.push_back(entry.path());
  }
  std::ranges::sort(found);
  if (found.empty())
    throw UsageError(concat("there is no folder in ", folder.string(), "; each student's mine/ is one"));
  return found;
}

/// Most bytes of logs of a student and of the class. An honest student's logs have 100 KB.
constexpr std::uintmax_t most_logs = 32 << 20, most_of_class = 256 << 20;

/// Prints the first few reasons, one a line, and how many more there are.
void tell_left_out(const std::vector<std::string>& reasons) {
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i)
    std::cerr << lab::fitted_for_errors("left out: " + reasons[i]) << "\n";
  if (reasons.size() > most) std::cerr << "left out: " << reasons.size() - most << " more logs or folders\n";
}

/// Reads a student's logs in at most one minute for all of them. `room` is the number of bytes left for the
/// logs of this student and the next ones.
std::vector<train::Run> runs_of(const Submission& submission, std::uintmax_t& room) {
  std::vector<train::Run> runs;
  std::vector<std::string> left_out;
  const auto end = Clock::now() + std::chrono::minutes(1);
  std::uintmax_t own_room = std::min(most_logs, room);
  const RecordedRuns recorded = submission.runs();
  for (const fs::path& path : recorded.closed)
    left_out.push_back(plain_line(path.string(), 300) + ": this folder cannot be read");
  for (const fs::path& path : recorded.files) {
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    std::error_code failed;
    const std::uintmax_t bytes = fs::file_size(path, failed);
    const std::string why = bytes > own_room ? "with the logs before it more than is read"
                            : left <= 0      ? "no time is left for it"
                                             : why_unreadable(path, std::min(20.0, left));
    if (why.empty()) {
      own_room -= bytes, room -= bytes;
      runs.push_back(train::load_run(path.string()));
    } else {
      left_out.push_back((why.starts_with(path.string()) ? "" : plain_line(path.string(), 300) + ": ") + why);
    }
  }
  tell_left_out(left_out);
  return runs;
}

/// Throws UsageError when class.csv in `out` is another program's, or `out` cannot be written. It runs before
/// the grading, which may take hours, and before anything is overwritten.
void expect_own(const fs::path& out) {
  std::error_code none;
  if (fs::exists(out / "class.csv", none) && !read_file(out / "class.csv").starts_with("student,score,"))
    throw UsageError(
        concat((out / "class.csv").string(),
               " is not of ./learn collect, and would be overwritten; name another folder: --out"));
  fs::create_directories(out / "students", none);
  if (access((out / "students").c_str(), W_OK) != 0)
    throw UsageError(concat("cannot write into ", out.string(), ": ", std::strerror(errno)));
}

/// Lets only one call of collect write into `out` at a time.
class Lock {
 public:
  explicit Lock(const fs::path& out) : file_(open(out.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw UsageError(concat("another ./learn collect writes into ", out.string(), "; name another: --out"));
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) close(file_);
  }

 private:
  int file_;
};

/// The result files of the students who stand in the class.csv of an earlier call.
std::vector<fs::path> files_of_earlier_call(const fs::path& out) {
  std::error_code none;
  if (!fs::exists(out / "class.csv", none)) return {};
  const std::string table = read_file(out / "class.csv");
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "students", none)) {
    const std::string student = entry.path().stem().string();
    const bool named =
        table.find("\n" + student + ",") != table.npos || table.find("\n\"" + student + "\",") != table.npos;
    if (named && entry.path().extension() == ".json") files.push_back(entry.path());
  }
  return files;
}

/// Removes the result files of students who are not in `all`.
void forget(const std::vector<fs::path>& files, const std::vector<Grades>& all) {
  for (const fs::path& file : files)
    if (std::ranges::count(all, file.stem().string(), &Grades::student) == 0) fs::remove(file);
}

/// Writes alike.csv and class.html. `handed_in` is the number of submissions; those after the last of `all`
/// were not judged.
void write_rest(const fs::path& out, const std::vector<Grades>& all, std::vector<train::Run> runs,
                double least, std::size_t handed_in) {
  const std::vector<Pair> pairs = alike(all, least);
  write_file(out / "alike.csv", pairs_csv(pairs));
  write_file(out / "class.html", class_html(all, pairs, std::move(runs), out, handed_in));
  if (!pairs.empty())
    std::cout << lab::fitted(fmt::format("\n{} {} alike: {}\n", pairs.size(),
                                         pairs.size() == 1 ? "pair is" : "pairs are",
                                         (out / "alike.csv").string()));
}

/// "3 of 30, about 12 min left", estimated from the time so far.
std::string time_left(std::size_t done, std::size_t all, Clock::duration so_far) {
  const double seconds = std::chrono::duration<double>(so_far).count() / static_cast<double>(done) *
                         static_cast<double>(all - done);
  const std::string left =
      seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("  {} of {}{}\n", done, all, done == all ? "" : ", about " + left + " left");
}

/// The message for a student in whose folder no file lies where it should; empty for any other.
std::string why_nothing_was_read(const Grades& grades) {
  for (const ExerciseGrade& one : grades.exercises)
    if (one.outcome != "missing") return "";
  return grades.exercises.empty() ? "" : grades.exercises.front().message;
}

/// Judges the submissions in order and writes down each result.
void judge_all(const std::vector<fs::path>& submissions, const Grading& grading, const fs::path& out,
               std::vector<Grades>& all, std::vector<train::Run>& runs) {
  const auto began = Clock::now();
  std::uintmax_t room = most_of_class;
  for (const fs::path& path : submissions) {
    const Submission submission(path);
    all.push_back(grade(submission, path.filename().string(), grading));
    write_file(out / "students" / (all.back().student + ".json"), grades_json(all.back()));
    write_file(out / "class.csv", class_csv(all));
    for (train::Run& run : runs_of(submission, room)) runs.push_back(std::move(run));
    std::cout << fmt::format("  {:<30} {:>4} of {}{}\n", all.back().student, all.back().score(),
                             all.back().most(), all.back().minutes_late.value_or(0) > 0 ? "  late" : "")
              << std::flush;
    if (const std::string why = why_nothing_was_read(all.back()); !why.empty())
      std::cerr << lab::fitted_for_errors("  nothing of it was read: " + plain_line(why, 300)) << "\n";
    std::cerr << time_left(all.size(), submissions.size(), Clock::now() - began);
  }
}

/// Writes the reports on the students judged so far, after Ctrl-C or when this machine can grade no longer.
void close_early(const fs::path& out, const std::vector<Grades>& all, std::vector<train::Run> runs,
                 double least, std::size_t handed_in) {
  if (all.empty()) return;
  write_rest(out, all, std::move(runs), least, handed_in);
  std::cerr << lab::fitted_for_errors(fmt::format("{} of {} students were judged. Table: {}  Page: {}\n",
                                                  all.size(), handed_in, (out / "class.csv").string(),
                                                  (out / "class.html").string()));
}

}  // namespace

int collect(int argc, const char* const* argv) {
  std::string folder, out = "class";
  double least = 0.8;
  bool trust = false;
  Homework homework;
  CLI::App app("Grades every folder in FOLDER as one student's, behind a fence: a table and a page.",
               "./learn collect");
  app.add_option("FOLDER", folder, "Holds a folder a student, named as the student")->required();
  app.add_option("--out", out, "Where class.csv, class.html, alike.csv and students/ go")
      ->capture_default_str();
  app.add_option("--alike", least, "From which likeness on a pair is listed")->capture_default_str();
  homework.add_flags(app);
  app.add_option("--due", homework.due, "Until when it was due, 2026-11-30T23:59: says who is late");
  app.add_flag("--trust", trust, "Where no fence works: all of it is known to be harmless");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  if (out.empty()) throw UsageError("--out names no folder");
  if (!(least >= 0 && least <= 1)) throw UsageError("--alike is a share: from 0 to 1");
  if (lies_in(out, folder) || lies_in(fs::path(out) / "students", folder))
    throw UsageError("--out lies among the submissions; name a folder elsewhere");
  expect_unseen(folder);
  expect_unseen(out);
  const std::vector<fs::path> submissions = submissions_in(folder);
  expect_own(out);
  const Lock lock(out);
  umask(022);  // a submission that root grades runs as another user, and has to see its check
  const ScratchFolder scratch("collect");
  Grading grading{.exercises = exercises(), .scratch = scratch.path()};
  homework.set(grading);
  grading.fence = best_fence(scratch.path(), trust);
  std::cout << lab::fitted("Sandbox: " + describe(grading.fence)) << "\n\n" << std::flush;
  expect_fit_to_grade(grading);
  const std::vector<fs::path> earlier = files_of_earlier_call(out);
  std::vector<Grades> all;
  std::vector<train::Run> runs;
  try {
    judge_all(submissions, grading, out, all, runs);
    forget(earlier, all);
  } catch (const std::exception&) {
    try {
      close_early(out, all, std::move(runs), least, submissions.size());
    } catch (const std::exception& error) {  // the first reason counts
      std::cerr << lab::fitted_for_errors(error.what()) << "\n";
    }
    throw;
  }
  const std::size_t curves = runs.size();
  write_rest(out, all, std::move(runs), least, submissions.size());
  std::cout << lab::fitted(fmt::format("\n{} students, {} recorded runs. Table: {}  Page: {}\n", all.size(),
                                       curves, (fs::path(out) / "class.csv").string(),
                                       (fs::path(out) / "class.html").string()));
  const std::vector<std::string> doubts = alarms(all);
  for (const std::string& doubt : doubts) std::cerr << lab::fitted_for_errors("alarm: " + doubt) << "\n";
  return doubts.empty() ? 0 : 1;
}

}  // namespace tinymp::classroom
