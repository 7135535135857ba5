#include <glob.h>

#include <lessons/lab/learn/find_runs.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/csv_runs.h>
#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/base/parallel_for.h>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>
#include <utility>

namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_runs = 10'000;  // a page of more could not be read

struct File {
  std::string path;
  std::size_t name;  ///< which of the names led here
  bool is_named;     ///< not found in a folder
};

/// What a pattern meets, by name, as a shell would write it in its place.
std::vector<std::string> met_by(const std::string& pattern) {
  glob_t found{};
  const int code = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths;
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  if (paths.empty())
    throw UsageError(concat("the pattern ", pattern, " meets no file; what was recorded lies in runs/"));
  return paths;
}

/// The name itself, or where there is no such file what it meets as a pattern.
std::vector<std::string> paths_of(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) return {name};
  if (fs::exists(name + ".jsonl", ignored)) return {name + ".jsonl"};  // as ./learn runs names it
  if (name.find_first_of("*?[") != std::string::npos) return met_by(name);
  throw UsageError(concat("there is no file or folder ", name, "; what was recorded lies in runs/"));
}

void tell_left_out(const std::string& why) {
  std::cerr << fitted_for_errors(printable_lines(concat("left out: ", why))) << "\n";
}

/// Adds the *.jsonl in a folder and below. A folder below that cannot be read is left out, with a line on stderr.
void collect_logs(const fs::path& folder, std::vector<fs::path>& found, std::error_code& failed) {
  std::error_code unknown;
  for (fs::directory_iterator i(folder, failed), end; !failed && i != end; i.increment(failed)) {
    if (i->path().extension() == ".jsonl" && i->is_regular_file(unknown)) found.push_back(i->path());
    if (!i->is_directory(unknown) || i->is_symlink(unknown)) continue;
    std::error_code below;
    collect_logs(i->path(), found, below);
    if (below) tell_left_out(concat("cannot read the folder ", i->path().string(), ": ", below.message()));
  }
}

class Finder {
 public:
  void find(const std::string& name, std::size_t index) {
    for (const std::string& path : paths_of(name)) {
      std::error_code ignored;
      if (!fs::is_directory(path, ignored)) {
        add({path, index, true});
        continue;
      }
      for (const std::string& log : logs_below(path)) add({log, index, false});
    }
  }
  const std::vector<File>& files() const { return files_; }
  bool was_seen_again(std::size_t name) const { return again_.contains(name); }

 private:
  void add(File file) {
    std::error_code ignored;
    if (!seen_.insert(fs::weakly_canonical(file.path, ignored)).second) {
      again_.insert(file.name);
      return;
    }
    if (files_.size() == most_runs)
      throw UsageError(concat("more than ", most_runs, " runs; name a folder that holds fewer"));
    files_.push_back(std::move(file));
  }

  std::vector<File> files_;
  std::set<fs::path> seen_;
  std::set<std::size_t> again_;
};

}  // namespace

std::vector<std::string> logs_below(const std::string& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  collect_logs(folder, found, failed);
  if (failed) throw Error(concat("cannot read the folder ", folder, ": ", failed.message()));
  std::ranges::sort(found);
  std::vector<std::string> paths;
  for (const fs::path& path : found) paths.push_back(path.string());
  return paths;
}

std::string one_below(const std::string& folder, const std::string& ending, const std::string& otherwise) {
  std::string newest;
  std::error_code failed;
  for (fs::recursive_directory_iterator i(folder, failed), end; !failed && i != end; i.increment(failed)) {
    std::string above = i->path().parent_path().string();
    if (i->path().string().ends_with(ending) && above > newest) newest = std::move(above);
  }
  return newest.empty() ? otherwise : concat("; ", excerpt(newest, 200), " has one");
}

std::vector<std::vector<train::Run>> read_runs(const std::vector<std::string>& paths,
                                               const std::string& metric, std::vector<std::string>& why) {
  std::vector<std::vector<train::Run>> runs(paths.size());
  why.assign(paths.size(), "");
  parallel_for(static_cast<std::int64_t>(paths.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      try {
        if (report::is_csv(paths[i]))
          runs[i] = report::csv_runs(paths[i], metric);
        else
          runs[i].push_back(train::load_run(paths[i]));
      } catch (const Error& error) {
        why[i] = error.what();
      }
    }
  });
  return runs;
}

std::vector<train::Run> find_runs(const std::vector<std::string>& names, const std::string& metric) {
  Finder finder;
  std::error_code unknown;
  std::set<std::size_t> pages;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t before = finder.files().size();
    finder.find(names[i], i);
    const bool is_page = std::filesystem::exists(std::filesystem::path(names[i]) / "report.html", unknown);
    if (finder.files().size() == before && names.size() > 1 &&
        is_page) {  // a pattern of the shell meets it, too
      pages.insert(i);
      continue;
    }
    if (finder.files().size() == before && !finder.was_seen_again(i))
      throw Error(concat("no recorded run (*.jsonl) in ", names[i], "; ./learn run 6 records some"));
  }
  expect(!finder.files().empty(),
         "no recorded run (*.jsonl) in any of these folders; ./learn run 6 records some");
  std::vector<std::string> paths, why;
  for (const File& file : finder.files()) paths.push_back(file.path);
  std::vector<std::vector<train::Run>> read = read_runs(paths, metric, why);

  std::vector<train::Run> runs;
  std::set<std::size_t> with_runs;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const File& file = finder.files()[i];
    if (why[i].empty())
      with_runs.insert(file.name);
    else if (file.is_named)
      throw Error(why[i]);
    else
      tell_left_out(why[i]);
    std::ranges::move(read[i], std::back_inserter(runs));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    expect(with_runs.contains(i) || finder.was_seen_again(i) || pages.contains(i), "none of the files in ",
           names[i], " is a recorded run");
  return runs;
}

}  // namespace tinymp::lab
