#include <kernels/kernels.h>
#include <tinymp/base/error.h>
#include <tinymp/dist/wire.h>

namespace tinymp::dist {
namespace {

constexpr Divide all[] = {Divide::after, Divide::first, Divide::split};

}  // namespace

// <exercise wire>
double predivide_factor(Divide divide, int ranks) {
  if (divide == Divide::after) return 1;
  if (divide == Divide::first) return ranks;
  int factor = 1;  // FSDP's rule
  while (ranks % factor == 0 && ranks > factor * factor) factor *= 2;
  return factor;
}

void put_on_wire(const View& gradients, double factor, const View& wire) {
  kernels::scale(gradients, 1 / factor, wire);
}

double divisor_behind(double micro_batches, double factor) { return micro_batches / factor; }
// </exercise wire>

const char* name_of(Divide divide) {
  constexpr const char* names[] = {"after", "first", "split"};
  return names[static_cast<std::size_t>(divide)];
}

Divide divide_from_name(const std::string& name) {
  for (const Divide divide : all)
    if (name == name_of(divide)) return divide;
  throw UsageError(concat("no division '", name, "'; there are after, first and split"));
}

std::string describe(const Wire& wire) {
  return wire.rounds() ? concat(wire.format, ", divided ", name_of(wire.divide)) : "";
}

}  // namespace tinymp::dist
