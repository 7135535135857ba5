#include <fmt/format.h>

#include <lessons/lab/report/gradient_sizes.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>

namespace tinymp::report {
namespace {

using train::GradientSizes;
using train::Histogram;
using train::StepSizes;
using train::UpdateSizes;

std::string share_text(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "-" : percent(train::share(part, whole));
}

void fill(Bars& bars, const Histogram& sizes, int first, int last) {
  bars.first = first;
  bars.total = sizes.nonzero();
  for (int e = first; e <= last; ++e) bars.counts.push_back(sizes.at(e));
  bars.counts.front() = sizes.up_to(first);
  bars.counts.back() = sizes.sized() - sizes.up_to(last - 1);
}

std::string where(const LastSizes& look, const std::string& name) {
  return concat(name, ", step ", look.sizes->step, ", seed ", look.run->header.seed);
}

/// "S = 8", or in a run whose S is 1024 "8 times this S".
std::string times(double scale, int k) {
  return scale == 1 ? "S = " + scale_text(std::ldexp(1, k)) : scale_text(std::ldexp(1, k)) + " times this S";
}

/// 8 times the S, or less where that makes the largest overflow: as a power of two, 0 when every larger S
/// does.
int first_advice(const GradientSizes& all) { return std::clamp(all.overflows_from() - 1, 0, 3); }

/// The smallest 2^k times the S that leaves less than a thousandth of the gradients below FP16, as far as
/// nothing overflows.
int enough(const GradientSizes& all) {
  int k = 0;
  while (k + 1 < all.overflows_from() && all.below_fp16(k) > all.sizes.nonzero() / 1000) ++k;
  return k;
}

std::string about_saving(const GradientSizes& all, double scale) {
  const std::int64_t whole = all.sizes.nonzero();
  const int first = first_advice(all), k = enough(all);
  if (first == 0) return " No larger S can save them: the largest would overflow.";
  std::string text =
      fmt::format(" {} would be saved by {}", share_text(all.saved_by(first), whole), times(scale, first));
  if (k > first) text += fmt::format(", {} by {}", share_text(all.saved_by(k), whole), times(scale, k));
  return text + ".";
}

/// A gradient that FP16 could hold and that is zero all the same lost what it is a sum of.
std::string about_flushed(const GradientSizes& all) {
  const std::string share = share_text(all.flushed, all.sizes.nonzero());
  const bool on_the_way =
      all.flushed > 2 * all.below_fp16() && all.flushed >= (all.sizes.nonzero() + 99) / 100;
  return concat(
      "In this run ", share, " of them are zero",
      on_the_way ? ": most of those could be held, but what they are made of was flushed on its way." : ".");
}

std::vector<std::string> about_gradients(const GradientSizes& all, double scale, DType format) {
  const std::int64_t whole = all.sizes.nonzero();
  if (whole == 0) return {"Every gradient is zero in FP32 already."};
  std::vector<std::string> words;
  words.push_back(
      all.below_fp16() == 0
          ? "None of the gradients, as FP32 computes them, is too small for FP16."
          : fmt::format("{} of the gradients, as FP32 computes them, are 2^-25 or smaller, which FP16 "
                        "rounds to zero.{}",
                        share_text(all.below_fp16(), whole), about_saving(all, scale)));
  if (format == DType::bf16 && all.below_fp16() > 0)
    words.back() += " This run keeps them in BF16, whose range is that of FP32.";
  if (all.flushed > 0) words.push_back(about_flushed(all));
  if (all.sizes.nonfinite > 0)
    words.push_back(share_text(all.sizes.nonfinite, whole) + " are infinite or NaN, in FP32 too.");
  words.push_back(all.overflowed > 0
                      ? share_text(all.overflowed, whole) + " lie above 65504 and become infinite."
                      : fmt::format("The largest is {}; {} would make it overflow.",
                                    short_number(all.largest, 2), times(scale, all.overflows_from())));
  return words;
}

std::vector<std::string> about_updates(const UpdateSizes& all, DType master) {
  const std::int64_t whole = all.ratios.values();
  if (whole == 0) return {"No update moved anything, not even in FP32."};
  std::string text = fmt::format(
      "{} of the updates are at least 2048 times smaller than their weight, too small for most FP16 "
      "weights",
      share_text(all.beyond_2048(), whole));
  text += master == DType::f32 ? "; these weights are FP32." : ".";
  if (master == DType::bf16)
    text += fmt::format(" These weights are BF16: 256 times smaller is too small for most, and {} are.",
                        share_text(all.beyond_256(), whole));
  return {text, fmt::format("In this run {} were lost: {} underflowed, {} absorbed.",
                            share_text(all.underflowed + all.absorbed, whole),
                            share_text(all.underflowed, whole), share_text(all.absorbed, whole))};
}

}  // namespace

std::optional<LastSizes> last_sizes(const Group& group) {
  std::optional<LastSizes> broken;
  for (const Run* run : group.runs) {
    for (auto sizes = run->sizes.rbegin(); sizes != run->sizes.rend(); ++sizes) {
      if (sizes->gradients().sizes.nonfinite == 0) return LastSizes{run, &*sizes};
      if (!broken) broken = {run, &*sizes};
    }
  }
  return broken;
}

const Bars::Region& Bars::region_of(int exponent) const {
  for (const Region& region : regions) {
    if (exponent <= region.to) return region;
  }
  return regions.back();
}

double Bars::share(int exponent) const {
  return train::share(counts[static_cast<std::size_t>(exponent - first)], total);
}

double Bars::highest() const { return train::share(*std::max_element(counts.begin(), counts.end()), total); }

// FP16: 2^-25 and below rounds to zero, 2^-24 is its smallest subnormal, 2^-14 its smallest normal, 65504 its
// largest number.
Bars gradient_bars(const LastSizes& look, const std::string& name) {
  const GradientSizes all = look.sizes->gradients();
  const std::string factor =
      look.sizes->scale == 1 ? "" : concat(" times S = ", scale_text(look.sizes->scale));
  Bars bars{.title = "Sizes of the gradients" + factor, .of = where(look, name)};
  bars.upper_edge_inside = true;
  fill(bars, all.sizes, -45, 20);
  bars.regions = {
      {-45, -25, "zero in FP16", true}, {-24, -14, "subnormal"}, {-13, 16, "normal"}, {17, 20, "inf", true}};
  bars.words = about_gradients(all, look.sizes->scale, look.run->header.recipe.gradient);
  return bars;
}

std::optional<Bars> update_bars(const LastSizes& look, const std::string& name) {
  const std::optional<UpdateSizes> all = look.sizes->updates();
  if (!all) return std::nullopt;
  Bars bars{.title = "Weights divided by their updates", .of = where(look, name)};
  fill(bars, all->ratios, -10, 40);
  bars.regions = {{-10, 10, "below 2048"}, {11, 40, "2048 and more", true}};
  bars.words = about_updates(*all, look.run->header.recipe.master);
  return bars;
}

Table gradient_table(const StepSizes& sizes) {
  const int k = first_advice(sizes.gradients());
  const bool overflows = k == 0;  // then no larger S is a cure
  const std::string factor = scale_text(std::ldexp(1, k));
  const std::string saves = overflows          ? "infinite"
                            : sizes.scale == 1 ? "S = " + factor + " saves"
                                               : factor + " S saves";
  Table table{{"parameter", "gradients", "zero", "flushed", "too small", "subnormal", saves}, {}, {}};
  table.align = {Align::left,  Align::right, Align::right, Align::right,
                 Align::right, Align::right, Align::right};
  const auto row = [&](const std::string& name, const GradientSizes& g) {
    const std::int64_t whole = g.sizes.nonzero();
    table.rows.push_back({name, concat(g.sizes.values()), share_text(g.sizes.zeros, g.sizes.values()),
                          share_text(g.flushed, whole), share_text(g.below_fp16(), whole),
                          share_text(g.subnormal, whole),
                          share_text(overflows ? g.overflowed : g.saved_by(k), whole)});
  };
  for (const train::ParameterSizes& p : sizes.parameters) row(p.name, p.gradients);
  row("all", sizes.gradients());
  return table;
}

Table update_table(const StepSizes& sizes) {
  Table table{{"parameter", "updates", "2048 and more", "underflowed", "absorbed"}, {}, {}};
  table.align = {Align::left, Align::right, Align::right, Align::right, Align::right};
  const auto row = [&](const std::string& name, const UpdateSizes& u) {
    const std::int64_t whole = u.ratios.values();
    table.rows.push_back({name, concat(whole), share_text(u.beyond_2048(), whole),
                          share_text(u.underflowed, whole), share_text(u.absorbed, whole)});
  };
  for (const train::ParameterSizes& p : sizes.parameters) {
    if (p.updates) row(p.name, *p.updates);
  }
  if (const std::optional<UpdateSizes> all = sizes.updates()) row("all", *all);
  return table;
}

Table eight_bit_table(const StepSizes& sizes) {
  Table table{{"tensors", "format", "values", "became 0", "beyond the end"}, {}, {}};
  table.align = {Align::left, Align::left, Align::right, Align::right, Align::right};
  for (const train::NarrowedSizes& n : sizes.eight_bits)
    table.rows.push_back({n.what, std::string(format_of(n.dtype).title), concat(n.values),
                          share_text(n.flushed, n.values), share_text(n.saturated, n.values)});
  return table;
}

std::string eight_bit_title(const LastSizes& look, const std::string& name) {
  return "FP8 on the way into products: " + where(look, name);
}

}  // namespace tinymp::report
