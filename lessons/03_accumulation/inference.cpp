#include <fmt/format.h>
#include <lessons/03_accumulation/questions.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

constexpr std::int32_t no_answer = -1;

/// The class of the largest logit of each test image; none where a logit is not finite.
std::vector<std::int32_t> answers_of(Lab& lab, const nn::Model& model, const data::LoaderOptions& pixels) {
  std::vector<std::int32_t> answers;
  for (const data::Batch& batch : data::InOrder(lab.data().test, 1000, pixels)) {
    const Tensor logits = model(data::to(batch, lab.device()).images);  // (B,C)
    const std::vector<float> values = logits.to_floats();
    const std::int64_t classes = logits.shape()[1];
    for (auto row = values.begin(); row != values.end(); row += classes) {
      const bool finite = std::all_of(row, row + classes, [](float x) { return std::isfinite(x); });
      const auto best = static_cast<std::int32_t>(std::max_element(row, row + classes) - row);
      answers.push_back(finite ? best : no_answer);
    }
  }
  return answers;
}

/// NaN when a has no answer to an image.
template <class Others>
double percent_of(const std::vector<std::int32_t>& a, const Others& b) {
  if (std::ranges::count(a, no_answer) > 0) return train::not_measured;
  double equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
  return 100 * equal / static_cast<double>(a.size());
}

}  // namespace

void ask_twice(Lab& lab, const train::Plan& plan, const nn::Model& trained, Answers& answers) {
  Recipe recipe = plan.recipe;
  recipe.accumulate = DType::f16;
  Rng rng(plan.seed);
  const std::unique_ptr<nn::Model> narrow = plan.model(recipe, rng);
  nn::move_to(*narrow, lab.device());
  nn::copy_parameters(trained, *narrow);

  const std::vector<std::int32_t> wide = answers_of(lab, trained, plan.pixels);
  const std::vector<std::int32_t> other = answers_of(lab, *narrow, plan.pixels);
  answers.f32.push_back(percent_of(wide, lab.data().test.labels));
  answers.f16.push_back(percent_of(other, lab.data().test.labels));
  answers.changed.push_back(100 - percent_of(other, wide));
}

void show_answers(Lab& lab, const char* model, const Answers& answers) {
  lab.say(fmt::format("{:<24} {:>24} {:>24} {:>20}", model, spread(answers.f32, 2), spread(answers.f16, 2),
                      spread(answers.changed, 2)));
  lab.number(concat(model, ": accuracy with FP32 accumulators"), mean(answers.f32));
  lab.number(concat(model, ": accuracy with FP16 accumulators"), mean(answers.f16));
  lab.number(concat(model, ": answers changed (%)"), mean(answers.changed));
}

void claim_answers(Lab& lab, const char* model, const Answers& answers) {
  const double points = largest_gap(answers.f32, answers.f16), allowed = 0.2;
  lab.claim(points <= allowed, fmt::format("{}, asked with FP16 accumulators: within {} points ({} allowed)",
                                           model, fixed(points, 2), allowed));
}

}  // namespace tinymp::lab
