#include <lessons/lab/classroom/affected_sources.h>
#include <lessons/lab/classroom/exercise.h>
#include <lessons/lab/classroom/files.h>
#include <tests/catch.h>
#include <algorithm>

// What a build with pieces of the learner's compiles: nothing that a piece touches may be left out.
namespace tinymp::test {
namespace {

using namespace classroom;
using Files = std::vector<std::string>;

bool has(const Files& files, const std::string& file) { return std::ranges::count(files, file) == 1; }

}  // namespace

TEST_CASE("affected sources: the sources that include a file, however far down and however written") {
  const ScratchFolder scratch("touched");
  const auto write = [&](const std::string& path, const std::string& text) {
    write_file(scratch.path() / path, text);
  };
  write("tinymp/a.h", "#pragma once\n");
  write("tinymp/a.cpp", "#include <tinymp/a.h>\n");
  write("tinymp/b.h", "  #  include\t<tinymp/a.h>\n");
  write("kernels/c.inc", "#if 0\n#include <tinymp/b.h>\n#endif\n");
  write("kernels/d.cuh", "/**/#include <kernels/c.inc>\n");
  write("kernels/memory.cu", "#include <kernels/c.inc>\n");
  write("lessons/e.cpp", "#include \"kernels/c.inc\"");
  write("lessons/round.h", "#include <lessons/circle.h>\n");
  write("lessons/circle.h", "#include <lessons/round.h>\n#include <tinymp/a.h>\n");
  write("lessons/round.cpp", "#include <lessons/round.h>\n");
  write("lessons/other.cpp", "#include <vector>\n// tinymp/a.h\n#define include <tinymp/a.h>\n");
  write("lessons/notes.md", "#include <tinymp/a.h>\n");
  const auto touched = [&](const Files& changed) { return affected_sources(scratch.path(), changed); };
  CHECK(touched({"tinymp/a.h"}) ==
        Files{"kernels/d.cuh", "kernels/memory.cu", "lessons/e.cpp", "lessons/round.cpp", "tinymp/a.cpp"});
  CHECK(touched({"kernels/d.cuh"}) == Files{"kernels/d.cuh"});
  CHECK(touched({"tinymp/a.cpp", "kernels/d.cuh"}) == Files{"kernels/d.cuh", "tinymp/a.cpp"});
  CHECK(touched({}).empty());
}

TEST_CASE("affected sources: a source touches itself alone, the half nearly all") {
  const Files one = affected_sources(source_folder(), {"kernels/cpu/losses.cpp"});
  CHECK(one == Files{"kernels/cpu/losses.cpp"});
  const Files sums = affected_sources(source_folder(), {"kernels/cpu/column_sums.h"});
  CHECK(has(sums, "kernels/cpu/batch_norm.cpp"));
  CHECK(sums.size() < 10);
  const Files tiles = affected_sources(source_folder(), {"kernels/cuda/gemm/tile.h"});
  CHECK(has(tiles, "kernels/cuda/gemm/mma.cuh"));
  CHECK(!has(tiles, "kernels/cuda/gemm/tiled.cuh"));
  const Files half = affected_sources(source_folder(), {"tinymp/numeric/half_codec.h"});
  CHECK(has(half, "kernels/cpu/losses.cpp"));
  CHECK(has(half, "lessons/01_half/show.cpp"));
  CHECK(half.size() > 100);
}

}  // namespace tinymp::test
