#include <tinymp/numeric/convert.h>
#include <tinymp/train/first_bad.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

// Findings in words, for a learner.
namespace tinymp::train {
namespace {

/// With `precision` digits, the same in every locale.
std::string written(double value, std::chars_format format, int precision) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), value, format, precision).ptr};
}

/// 26128, 0.0312, 1e9, 6e-8
std::string number(double value) {
  if (std::isnan(value)) return "NaN";  // without a sign, which means nothing
  const double size = std::fabs(value);
  if (size >= 1000 && size < 1e9) return written(value, std::chars_format::fixed, 0);
  std::string text = written(value, std::chars_format::general, 3);
  for (const char* padding : {"e+0", "e+", "e-0"}) {
    const std::size_t at = text.find(padding);
    if (at != std::string::npos)
      text.replace(at, std::string(padding).size(), padding[1] == '-' ? "e-" : "e");
  }
  return text;
}

std::string between(const Contents& c) {
  return c.low == c.high ? number(c.low) : concat("between ", number(c.low), " and ", number(c.high));
}

std::string name_of_bad(double value) {
  return std::isnan(value) ? "NaN" : value > 0 ? "infinity" : "-infinity";
}

std::string text_of(const Shape& shape) { return concat(shape); }

/// Most infinities come from overflow, so the text names the end of the format.
/// log and division are exceptions.
std::string the_end(const std::string& op, const Contents& made, DType dtype) {
  const bool is_pole = op.find("log") != std::string::npos || op.find("div") != std::string::npos;
  if (std::isnan(made.bad) || is_pole) return ".";
  const bool narrow_sums = op.find("summed in f16") != std::string::npos;
  const FormatRow& format = format_of(narrow_sums ? DType::f16 : dtype);
  return concat("; ", format.title, " ends at ", format.largest, ".");
}

double largest_of(DType dtype) {
  return visit_any_dtype(dtype, []<class T> { return converted<double>(std::numeric_limits<T>::max()); });
}
double smallest_of(DType dtype) {
  return visit_any_dtype(dtype,
                         []<class T> { return converted<double>(std::numeric_limits<T>::denorm_min()); });
}

double reach(const Contents& c) { return std::max(-c.low, c.high); }

/// "inputs between 0 and 1, layer 2 weight between -3 and 3 (a step before: between -0.3 and 0.3)". It shows
/// the range of a step before only for a weight that one update made more than ten times as large.
std::string inputs_text(const std::vector<BadTensor::Input>& inputs, const RangesBefore& before) {
  std::string text;
  for (const BadTensor::Input& x : inputs) {
    const std::string what = !x.name.empty() ? x.name + " " : text.empty() ? "inputs " : "";
    text += (text.empty() ? "" : ", ") + what + between(x.contents);
    const auto was = before.find(x.name);
    if (was == before.end()) continue;
    if (reach(x.contents) > 10 * reach(was->second))
      text += concat(" (a step before: ", between(was->second), ")");
  }
  return text;
}

/// "image 3, row 0, column 12", with the channel when there are several
std::string place_in_images(std::int64_t at, const data::ImageShape& images) {
  const std::int64_t pixel = at % images.size() / images.channels;
  const std::string place =
      concat("image ", at / images.size(), ", row ", pixel / images.cols, ", column ", pixel % images.cols);
  return images.channels == 1 ? place : concat(place, ", channel ", at % images.channels);
}

void describe_input(const BadTensor& bad, const data::ImageShape& images, Finding& found) {
  const std::int64_t at = bad.contents.bad_at;
  const auto source = std::ranges::find_if(
      bad.inputs, [](const BadTensor::Input& input) { return !input.contents.finite(); });
  const bool is_parameter = !source->name.empty();  // an autoencoder also has a weight (I,784)
  const bool is_images = !is_parameter && bad.shape.rank() == 2 && bad.shape.cols() == images.size();
  found.direction = "input";
  if (is_images) found.where = place_in_images(at, images);
  const std::string what = name_of_bad(bad.contents.bad);
  found.sentence =
      is_images ? concat("Step ", found.step, ", input: before anything was computed the batch held ", what,
                         " in ", found.where, " (counted from 0). ", bad.op, " was the first to read it.")
                : concat("Step ", found.step, ", input: ", bad.op, " (", bad.where, ") was handed ", what,
                         " that nothing computed, at place ", at, " of ", bad.dtype, bad.shape, ".");
}

std::string times(double scale) { return scale == 1 ? "" : concat(" times the scale ", number(scale)); }

/// A finite tensor that a narrower format does not hold: "cast f16 -> e5m2 (layer 2 errors, (64, 10)) gave infinity: 70000
/// lies beyond 57344, where FP8 E5M2 ends."
std::string cast_text(const BadTensor& bad) {
  const Contents& was = bad.inputs[0].contents;
  const double bad_value = bad.contents.bad;
  const bool has_no_infinity = std::isnan(bad_value);  // E4M3; no NaN went in
  const double from = has_no_infinity ? reach(was) : bad_value > 0 ? was.high : was.low;
  const FormatRow& format = format_of(bad.dtype);
  return concat("cast ", bad.inputs[0].dtype, " -> ", bad.dtype, " (", bad.where, ", ", bad.shape, ") gave ",
                name_of_bad(bad_value), ": ", number(from), times(bad.scale), " lies beyond ", format.largest,
                ", where ", format.title, " ends",
                has_no_infinity && !has_arithmetic(bad.dtype) ? "; it has no infinity." : ".");
}

bool is_cast(const BadTensor& bad) { return bad.op == "cast" || bad.op == "quantize"; }

void describe_forward(const BadTensor& bad, const RangesBefore& before, Finding& found) {
  const std::string step = concat("Step ", found.step, ", forward: ");
  const std::string made = name_of_bad(bad.contents.bad);
  found.direction = "forward";
  if (is_cast(bad)) {
    found.sentence = step + cast_text(bad);
    return;
  }
  found.sentence =
      concat(step, bad.op, " (", bad.where, ", ", bad.dtype, bad.shape, ") gave ", made, " from ",
             inputs_text(bad.inputs, before), the_end(bad.op, bad.contents, bad.dtype));
}

void describe_backward(const BadTensor& bad, double scale, Finding& found) {
  found.direction = "backward";
  const std::string made = name_of_bad(bad.contents.bad);
  const std::string from = between(bad.inputs[0].contents);
  const std::string whose = found.parameter == bad.where
                                ? "the gradient of " + bad.where
                                : "the gradient that it hands back (" + bad.where + ")";
  if (bad.op == "quantize")
    found.sentence = concat("Step ", found.step, ", backward: ", cast_text(bad));
  else
    found.sentence =
        concat("Step ", found.step, ", backward: ", bad.op, " made ", made, " in ", whose, ", ", bad.dtype,
               bad.shape, ", from gradients ", from, the_end(bad.op, bad.contents, bad.dtype));
  if (scale != 1) found.sentence += concat(" The loss was multiplied by S = ", number(scale), ".");
  if (!found.parameter.empty() && found.parameter != bad.where)
    found.sentence += concat(" The first parameter that it reached is ", found.parameter, ".");
}

}  // namespace

Finding describe(const NonfiniteTracer& tracer, std::int64_t step, double scale, const RangesBefore& before,
                 const data::ImageShape& images) {
  const BadTensor& bad = tracer.first().value();
  Finding found;
  found.step = step;
  found.where = bad.where;
  found.op = bad.op;
  found.dtype = bad.dtype;
  found.shape = text_of(bad.shape);
  found.value = bad.contents.bad;
  found.parameter = tracer.first_bad_gradient();
  for (std::size_t i = 0; i < bad.inputs.size(); ++i) {
    const Contents& c = bad.inputs[i].contents;
    found.low = i == 0 ? c.low : std::min(found.low, c.low);
    found.high = i == 0 ? c.high : std::max(found.high, c.high);
  }
  if (bad.origin == BadTensor::Origin::input) describe_input(bad, images, found);
  if (bad.origin == BadTensor::Origin::forward) describe_forward(bad, before, found);
  if (bad.origin == BadTensor::Origin::backward) describe_backward(bad, scale, found);
  return found;
}

Finding describe(const BadUpdate& bad, std::int64_t step) {
  Finding found;
  found.step = step;
  found.direction = "update";
  found.where = bad.parameter;
  found.op = bad.master ? "cast" : bad.optimizer;
  found.dtype = bad.dtype;
  found.shape = text_of(bad.shape);
  found.value = bad.contents.bad;
  const Contents& from = bad.master ? *bad.master : bad.gradient;
  found.low = from.low;
  found.high = from.high;
  const std::string made = name_of_bad(bad.contents.bad);
  const std::string start = concat("Step ", step, ", update: ");
  if (bad.master) {
    found.sentence =
        concat(start, "the ", bad.dtype, " copy of ", bad.parameter, " became ", made,
               ": its master reaches ", number(bad.contents.bad > 0 ? from.high : from.low), ", and ",
               format_of(bad.dtype).title, " ends at ", format_of(bad.dtype).largest, ".");
    return found;
  }
  found.sentence = concat(start, bad.optimizer, " made ", made, " of the ", bad.what, " of ", bad.parameter,
                          " (", bad.dtype, bad.shape, ") from gradients ", between(from),
                          ". Where it did, the gradient is ", number(bad.at[0]));
  if (bad.at.size() == 2)
    found.sentence += concat(" and the moment ", number(bad.at[1]), " in ", format_of(bad.state).title);
  if (bad.at.size() == 3)
    found.sentence += concat(" and the moments are ", number(bad.at[1]), " and ", number(bad.at[2]), " in ",
                             format_of(bad.state).title,
                             bad.at[2] == 0 ? ": the update divides by the root of the second" : "");
  found.sentence += ".";
  return found;
}

Finding describe(const NarrowedTensor& worst, std::int64_t step) {
  const NarrowedSizes& sizes = worst.sizes;
  const FormatRow& format = format_of(sizes.dtype);
  const bool forward = worst.kind == Narrowed::Kind::activations || worst.kind == Narrowed::Kind::weights;
  const bool flushed = sizes.flushed == sizes.values;
  Finding found;
  found.step = step;
  found.direction = forward ? "forward" : "backward";
  found.where = concat(worst.layer, " ", sizes.what);
  found.op = "quantize";
  found.dtype = sizes.dtype;
  found.shape = text_of(worst.shape);
  found.value = flushed ? 0 : largest_of(sizes.dtype);
  found.high = worst.largest;
  const std::string start = concat("Step ", step, ", ", found.direction, ": ");
  const std::string largest = concat("the largest is ", number(worst.largest), times(worst.scale));
  const std::string of = concat("the ", sizes.what, " of ", worst.layer, ", ", sizes.dtype, worst.shape);
  found.sentence = flushed ? concat(start, "all ", sizes.values, " values of ", of,
                                    ", that were not 0 became 0: ", largest, ", and the smallest number of ",
                                    format.title, " is ", number(smallest_of(sizes.dtype)), ".")
                           : concat(start, number(100 * share(sizes.saturated, sizes.values)),
                                    " % of the values of ", of, ", lie beyond ", format.largest, ", where ",
                                    format.title, " ends, and became that: ", largest, ".");
  return found;
}

}  // namespace tinymp::train
