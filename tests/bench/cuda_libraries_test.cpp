#include <lessons/lab/bench/cuda_libraries.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <fstream>

namespace tinymp::test {
namespace {

namespace fs = std::filesystem;
using kernels::bench::cuda_libraries;

void touch(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "x";
}

TEST_CASE("cuda_libraries: the named folder, the toolkit, then the packages of the first python3") {
  const files::Folder made;
  const fs::path root = fs::canonical(made.path);
  // As versions 9 is older than 13, as text it is not.
  const fs::path own = root / "own/libcublas.so.12", old = root / "cuda/lib/libcublas.so.9",
                 toolkit = root / "cuda/lib/libcublas.so.13", older = root / "cuda/lib/libcublas.so.12",
                 wheel = root / "env/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13";
  for (const fs::path& file : {own, toolkit, old, older, wheel, root / "cuda/lib/libcublasLt.so.13",
                               root / "second/lib/python3.9/site-packages/nvidia/cublas/lib/libcublas.so.12",
                               root / "env/bin/python3", root / "second/bin/python3"})
    touch(file);
  const std::string bins =
      (root / "empty").string() + ":" + (root / "env/bin").string() + ":" + (root / "second/bin").string();
  const files::Environment named("TINYMP_TEST_FOLDER", (root / "own").c_str()),
      cuda("CUDA_PATH", (root / "cuda").c_str()), home("CUDA_HOME", nullptr), path("PATH", bins.c_str());
  std::vector<fs::path> found;
  for (const fs::path& file : cuda_libraries("libcublas.so", "TINYMP_TEST_FOLDER")) {
    if (file.string().starts_with("/usr/local/cuda")) continue;  // this machine's own toolkit
    found.push_back(fs::weakly_canonical(file));
  }
  CHECK(found == std::vector<fs::path>{own, toolkit, older, old, wheel});
}

TEST_CASE("cuda_libraries: an unset variable and an empty PATH are no folder") {
  const files::Folder made;
  const fs::path root = fs::canonical(made.path);
  const files::Environment cuda("CUDA_PATH", (root / "none").c_str()), home("CUDA_HOME", nullptr),
      path("PATH", "");
  const fs::path before = fs::current_path();
  touch(root / "libtinymp.so.13");
  fs::current_path(root);
  CHECK(cuda_libraries("libtinymp.so", "TINYMP_TEST_FOLDER").empty());
  fs::current_path(before);
}

}  // namespace
}  // namespace tinymp::test
