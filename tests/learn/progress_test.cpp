#include <lessons/lab/learn/progress.h>
#include <tests/base/says.h>
#include <tests/train/small_disk.h>

using tinymp::lab::Progress;

TEST_CASE("progress: a line that a full disk cut short spoils neither those before nor the next") {
  SmallDisk disk(8);
  if (!disk.mounted) SKIP_TEST("mounting a small tmpfs needs Linux and root");
  const std::string path = disk / "progress.txt";
  {
    std::ofstream out(path);
    for (int i = 0; i < 90; ++i) out << "exercise 1.1 attempted 2026-01-01T00:00:00Z\n";
    out << std::string(4096 - 90 * 44 - 10, '#') << "\n";  // nine bytes are left of the first page
  }
  disk.fill();
  Progress progress(path);
  CHECK(progress.count("exercise 1.1", "attempted") == 90);
  CHECK_SAYS("cannot write your progress " + path + ": No space left on device; free some space",
             progress.add("exercise 1.2", "passed"));
  CHECK(progress.count("exercise 1.2", "passed") == 0);
  CHECK(Progress(path).count("exercise 1.1", "attempted") == 90);
  std::filesystem::remove(disk / "ballast");
  progress.add("exercise 1.3", "passed");
  CHECK(Progress(path).count("exercise 1.1", "attempted") == 90);
  CHECK(Progress(path).count("exercise 1.2", "passed") == 0);
  CHECK(Progress(path).count("exercise 1.3", "passed") == 1);
}
