#include <fmt/format.h>
#include <lessons/06_loss_scaling/autoencoder.h>
#include <lessons/06_loss_scaling/picture.h>
#include <lessons/06_loss_scaling/questions.h>
#include <tinymp/base/error.h>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace tinymp::lab {
namespace {

const std::string question = "For which S does FP16 train?";
constexpr int highest = 28;

double test_mse(Lab& lab, const std::string& name, const Recipe& recipe) {
  train::Plan plan = autoencoder_plan(lab, {name, recipe}, lab.options().first_seed);
  plan.question = question;
  plan.steps = lab.steps(lab.is_cut() ? 100 : 200, 3);
  plan.shadow_every = 0;
  const std::unique_ptr<nn::Model> model = lab.prepare(plan);
  return measure(plan.task, *model, lab.data().test, {}, lab.device());
}

/// The test MSE of a model that answers every image with the mean image of the training set.
double mse_of_mean_image(const data::Split& data) {
  std::vector<double> mean(static_cast<std::size_t>(data.train.shape.size()));
  const auto pixel = [](std::uint8_t byte) { return static_cast<double>(byte) / 255; };
  for (std::int64_t i = 0; i < data.train.count; ++i) {
    for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += pixel(data.train.image(i)[p]);
  }
  for (double& value : mean) value /= static_cast<double>(data.train.count);
  double sum = 0;
  for (std::int64_t i = 0; i < data.test.count; ++i) {
    for (std::size_t p = 0; p < mean.size(); ++p) {
      const double error = pixel(data.test.image(i)[p]) - mean[p];
      sum += error * error;
    }
  }
  return sum / static_cast<double>(data.test.count * data.test.shape.size());
}

/// Claims that S = 2^8 to 2^20 trains as FP32 does, and that the highest S ends in NaN. Claims nothing about other S:
/// the edges of the window depend on the seed.
void claim_window(Lab& lab, const std::vector<WindowPoint>& points, double fp32) {
  std::vector<double> ratios;
  for (const WindowPoint& p : points)
    if (p.exponent >= 8 && p.exponent <= 20) ratios.push_back(p.mse / fp32);
  const double worst = largest(ratios);
  const double allowed = lab.is_cut() ? 1.10 : 1.05;  // a run on the small MNIST ends while errors fall fast
  lab.claim(worst <= allowed, fmt::format("S = 2^8 to 2^20: at most {} times FP32's MSE ({:.2f} allowed)",
                                          fixed(worst, 3), allowed));
  lab.claim(std::isnan(points.back().mse), fmt::format("S = 2^{}: NaN", highest));
}

void write_picture(const std::string& path, const std::string& svg) {
  std::ofstream out(path);
  out << svg << std::flush;
  if (!out) throw Error(train::write_failure("the picture", path, errno));
}

}  // namespace

void show_window(Lab& lab) {
  const int step = lab.options().smoke ? highest : lab.options().verify ? 2 : 4;
  std::vector<WindowPoint> points;
  const double fp32 = test_mse(lab, "window, FP32", recipes::fp32);
  lab.number("window: FP32", fp32);
  for (int e = 0; e <= highest; e += step) {
    Recipe recipe = recipes::fp16_static;
    recipe.scaling = StaticScaling{.factor = std::ldexp(1.0f, e)};
    points.push_back({e, test_mse(lab, fmt::format("window, S = 2^{}", e), recipe)});
    lab.number(fmt::format("window: S = 2^{}", e), points.back().mse);
  }
  const double mean_image = mse_of_mean_image(lab.data());
  lab.number("the mean image", mean_image);
  lab.say(fmt::format("\n{} seed {}, {} steps; FP32 ends at {}, the mean image has {:.4f}", question,
                      lab.options().first_seed, lab.steps(lab.is_cut() ? 100 : 200, 3), fixed(fp32, 4),
                      mean_image));
  lab.say(window_bars(points));
  claim_window(lab, points, fp32);
  const std::string log = lab.log_path("window", lab.options().first_seed);
  write_picture(std::filesystem::path(log).replace_extension(".svg"), window_svg(points, fp32, mean_image));
}

}  // namespace tinymp::lab
