#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/submission.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_text = 256 << 10;
constexpr std::uintmax_t longest_run = 16 << 20;
constexpr std::size_t most_runs = 100;
constexpr int most_looked_at = 2000;
constexpr auto closed_ones = fs::directory_options::skip_permission_denied;

/// Whether `path` is a regular file, and neither it nor a folder on the way from `folder` is a link.
bool is_plain(const fs::path& folder, const fs::path& path) {
  std::error_code failed;
  for (fs::path part = path; part != folder && part.has_relative_path(); part = part.parent_path())
    if (fs::is_symlink(part, failed)) return false;
  return fs::is_regular_file(fs::symlink_status(path, failed));
}

}  // namespace

Submission::Submission(const fs::path& folder, fs::path progress)
    : folder_(fs::weakly_canonical(folder)), progress_(std::move(progress)) {
  std::error_code failed;
  if (fs::is_directory(fs::symlink_status(folder_ / "mine", failed))) folder_ /= "mine";
}

std::optional<std::string> Submission::text(const fs::path& name) const {
  const fs::path path = folder_ / name;
  if (!is_plain(folder_.parent_path(), path)) return {};
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return {};
  std::string text(longest_text + 1, '\0');
  std::size_t read_so_far = 0;
  for (ssize_t n = 1; n > 0 && read_so_far < text.size();) {
    n = read(file, text.data() + read_so_far, text.size() - read_so_far);
    if (n > 0) read_so_far += static_cast<std::size_t>(n);
  }
  close(file);
  if (read_so_far > longest_text) return {};
  text.resize(read_so_far);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  return text;
}

bool Submission::is_too_long(const fs::path& name) const {
  std::error_code failed;
  const fs::path path = folder_ / name;
  return is_plain(folder_.parent_path(), path) && fs::file_size(path, failed) > longest_text && !failed;
}

bool Submission::is_unreadable(const fs::path& name) const {
  const fs::path path = folder_ / name;
  return access(path.c_str(), R_OK) != 0 && errno == EACCES;  // the file, or a folder on the way
}

std::optional<fs::file_time_type> Submission::written(const fs::path& name) const {
  std::error_code failed;
  const fs::path path = folder_ / name;
  if (!is_plain(folder_.parent_path(), path)) return {};
  const fs::file_time_type time = fs::last_write_time(path, failed);
  return failed ? std::nullopt : std::optional(time);
}

fs::path Submission::whole() const { return folder_.filename() == "mine" ? folder_.parent_path() : folder_; }

std::string Submission::misplaced(const std::vector<fs::path>& names) const {
  std::error_code failed;
  const fs::path top = whole();
  int looked_at = 0;
  for (fs::recursive_directory_iterator i(top, closed_ones, failed), end;
       !failed && i != end && ++looked_at < most_looked_at; i.increment(failed)) {
    if (i.depth() > 4) i.disable_recursion_pending();
    const fs::path file = i->path();
    const std::string there = file.lexically_relative(top).string();
    const bool known =
        std::ranges::any_of(names, [&](const fs::path& name) { return name.filename() == file.filename(); });
    if (known && i->is_symlink(failed)) return there + " is a link, and links are not followed.";
    if (known) return there + " is not where it is looked for: mine/CHAPTER/FILE.";
    for (const char* const archive : {".zip", ".tar", ".gz", ".tgz", ".xz", ".7z"})
      if (file.extension() == archive) return there + " is packed: unpack it.";
  }
  return "";
}

std::string Submission::progress() const {
  if (!progress_.empty()) return fs::exists(progress_) ? read_file(progress_) : "";
  const std::optional<std::string> here = text("progress.txt");
  if (here || folder_.filename() != "mine") return here.value_or("");
  return text("../progress.txt").value_or("");
}

RecordedRuns Submission::runs() const {
  RecordedRuns found;
  std::error_code failed, none;
  const fs::path top = whole();
  for (fs::recursive_directory_iterator i(top, closed_ones, failed), end; !failed && i != end;
       i.increment(failed)) {
    if (i.depth() > 4) i.disable_recursion_pending();
    if (i->is_directory(none) && !i->is_symlink(none) &&
        faccessat(AT_FDCWD, i->path().c_str(), R_OK | X_OK, AT_EACCESS) != 0)
      found.closed.push_back(i->path());
    if (i->path().extension() == ".jsonl" && is_plain(top, i->path()) &&
        fs::file_size(i->path(), none) <= longest_run)
      found.files.push_back(i->path());
  }
  std::ranges::sort(found.files);
  std::ranges::sort(found.closed);
  if (found.files.size() > most_runs) found.files.resize(most_runs);
  return found;
}

}  // namespace tinymp::classroom
