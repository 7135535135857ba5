#include <lessons/lab/bench/cpu_machine.h>
#include <lessons/lab/bench/fma_peak.h>
#include <tinymp/base/error.h>
#include <tinymp/base/isa.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/train/provenance.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace tinymp::kernels::bench {
namespace {

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

double load() {
  double lately = 0;  // average of the last minute
  return getloadavg(&lately, 1) == 1 ? lately : 0;
}

const char* name_of(Isa isa) {
  return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "portable";
}

}  // namespace

nlohmann::ordered_json cpu_machine() {
  nlohmann::ordered_json instructions = nlohmann::ordered_json::array();
  for (const FmaLoop& loop : fma_loops()) instructions.push_back(loop.instructions);
  return {{"processor", train::processor_name()},
          {"cores", cores()},
          {"threads", threads()},
          {"instructions", instructions},
          {"kernels_use", name_of(isa())},
          {"load", load()},
          {"compiler", train::compiler_name()},
          {"commit", train::build_commit()},
          {"date", train::utc_now()}};
}

std::string cpu_headline() {
  std::string text = concat(train::processor_name(), ", ", cores(), cores() == 1 ? " core, " : " cores, ",
                            threads(), threads() == 1 ? " thread" : " threads");
  return text + concat(", kernels for ", name_of(isa()), "; ", train::compiler_name(), ", commit ",
                       train::build_commit());
}

std::string busy_warning() {
  const double now = load();
  if (now <= cores()) return "";
  char text[200];
  std::snprintf(text, sizeof text,
                "This machine is busy (load %.1f on %d cores). The figures are not to be trusted, those of "
                "PyTorch least: "
                "its threads wait for each other.",
                now, cores());
  return text;
}

}  // namespace tinymp::kernels::bench
