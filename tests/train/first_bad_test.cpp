#include <tests/train/faults.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/numeric/exp_log.h>

/// Faults, each put into a small run, and where the run says that it went wrong. What no loss shows:
/// passing_test.cpp.
namespace tinymp::test {
namespace {

// Ops that the library has not.

Tensor exp_of(const Tensor& x) {
  return each(
      "exp", x, [](float v) { return exp(v); }, [](float, float y) { return y; });
}
Tensor log_of(const Tensor& x) {
  return each(
      "log", x, [](float v) { return log(v); }, [](float v, float) { return 1 / v; });
}
Tensor square(const Tensor& x) {
  return each(
      "square", x, [](float v) { return v * v; }, [](float v, float) { return 2 * v; });
}

/// (B,C) = x:(B,C), each row divided by its sum, which is rounded to x's format.
Tensor divide_by_sum(const Tensor& x) {
  const std::int64_t B = x.shape()[0], C = x.shape()[1];
  std::vector<float> in = x.to_floats(), out = in, sums;
  for (std::int64_t b = 0; b < B; ++b) {
    float sum = 0;
    for (std::int64_t c = 0; c < C; ++c) sum += in[static_cast<std::size_t>(b * C + c)];
    sum = Tensor::from({1}, std::vector<float>{sum}, x.dtype()).to_floats()[0];
    sums.push_back(sum);
    for (std::int64_t c = 0; c < C; ++c) out[static_cast<std::size_t>(b * C + c)] /= sum;
  }
  return record("div", {x}, Tensor::from(x.shape(), out, x.dtype()), [=](const Tensor& dy, const Needs&) {
    const std::vector<float> d = dy.to_floats();
    std::vector<float> dx(d.size());
    for (std::int64_t b = 0; b < B; ++b) {
      float dot = 0;
      for (std::int64_t c = 0; c < C; ++c)
        dot += d[static_cast<std::size_t>(b * C + c)] * out[static_cast<std::size_t>(b * C + c)];
      for (std::int64_t c = 0; c < C; ++c) {
        const auto i = static_cast<std::size_t>(b * C + c);
        dx[i] = (d[i] - dot) / sums[static_cast<std::size_t>(b)];
      }
    }
    return std::vector{Tensor::from(dy.shape(), dx, dy.dtype())};
  });
}

/// (B,1) = the sums of x's rows, rounded to x's format: what a norm of a whole image begins with.
Tensor row_sums(const Tensor& x) {
  const Tensor ones = Tensor::from(
      {x.shape()[1], 1}, std::vector<float>(static_cast<std::size_t>(x.shape()[1]), 1.0f), x.dtype());
  Tensor y;
  {
    const Tape aside;
    y = matmul(x, ones);
  }
  return record("row_sums", {x}, y, [x](const Tensor&, const Needs&) { return std::vector{x}; });
}

TEST_CASE("fault 1: a learning rate of 1e4") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 12);
  plan.optimizer = sgd(1e4f);
  const Finding f = finding_of(plan);
  check_place(f, 2, "forward", "layer 2", "linear", DType::f16);
  CHECK(std::isinf(f.value));
  CHECK(f.shape == "(16, 10)");
  CHECK(f.low < -1000);   // a bias that one update moved there
  CHECK(f.high > 20000);  // what comes out of layer 1
  CHECK(f.high <= 65504);
  CHECK(says(f, "layer 2 weight between -201 and 496 (a step before: between -0.28"));
  CHECK(says(f, "FP16 ends at 65504."));

  plan.optimizer = sgd(1e7f);  // the weight itself does not fit any more
  const Finding weight = finding_of(plan);
  check_place(weight, 1, "update", "layer 1 weight", "cast", DType::f16);
  CHECK(std::max(-weight.low, weight.high) > 65504);
  CHECK(says(weight, "the f16 copy of layer 1 weight became"));

  Plan wide =
      small_plan(data, recipes::fp32, 60);  // FP32 has room for that: it learns nothing, but is finite
  wide.optimizer = sgd(1e4f);
  CHECK(findings_of(wide).empty());
}

TEST_CASE("fault 2: a static scale of 2^24") {
  const data::Split data = made_up_split();
  for (const bool skip : {false, true}) {
    Recipe recipe = recipes::fp16_static;
    recipe.scaling = StaticScaling{.factor = 0x1p24f, .skip_nonfinite = skip};
    const Finding f = finding_of(small_plan(data, recipe, 3));
    check_place(f, 1, "backward", "after layer 2", "cross_entropy", DType::f16);
    CHECK(f.value == infinity);
    CHECK(f.low == 0x1p24);
    CHECK(f.high == 0x1p24);
    CHECK(f.parameter == "layer 2 weight");
    CHECK(says(
        f,
        "The loss was multiplied by S = 16777216. The first parameter that it reached is layer 2 weight."));
  }
}

TEST_CASE("fault 4: the log of 0") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 3);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    return log_of(relu(logits_of(layers, images)));
  });
  const Finding f = finding_of(plan);
  check_place(f, 1, "forward", "after layer 2", "log", DType::f32);
  CHECK(f.value == -infinity);
  CHECK(f.low == 0);
  CHECK(f.high > 0.1);
  CHECK(f.high < 1);
  CHECK_FALSE(says(f, "ends at"));  // nothing overflowed
}

Custom::Forward naive_softmax(float temperature) {
  return [temperature](const std::vector<nn::Linear>& layers, const Tensor& images) {
    return log_of(divide_by_sum(exp_of(scale(logits_of(layers, images), 1 / temperature))));
  };
}

TEST_CASE("fault 5: softmax by its formula, in FP16") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 400);
  plan.model = custom(naive_softmax(0.02f));
  const Finding f = finding_of(plan);
  check_place(f, 1, "forward", "after layer 2", "exp", DType::f16);
  CHECK(f.value == infinity);
  CHECK(f.high > 11.09);  // e^11.09 = 65504
  CHECK(f.low < 0);

  // In time it breaks without a temperature too: a probability becomes 0.
  plan.model = custom(naive_softmax(1));
  plan.optimizer = sgd(0.1f, 0.9f);
  const Finding later = finding_of(plan);
  check_place(later, 20, "forward", "after layer 2", "log", DType::f16);
  CHECK(later.low == 0);
  CHECK(later.high <= 1);
  plan.recipe = recipes::fp32;
  CHECK(findings_of(plan).empty());
}

TEST_CASE("fault 6: Adam's eps of 1e-8 with FP16 state") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_master;
  recipe.state = DType::f16;
  Plan plan = small_plan(data, recipe, 20);
  plan.optimizer = adam(1e-3f, static_cast<float>(half(1e-8f)));  // an eps that is kept in FP16 as well is 0
  for (const std::int64_t steps : {20, 1}) {                      // the last step has no loss after it
    plan.steps = steps;
    const Finding f = finding_of(plan);
    check_place(f, 1, "update", "layer 1 weight", "Adam", DType::f32);
    CHECK(f.shape == "(784, 12)");
    CHECK(std::isinf(f.value));
    CHECK(f.low < 0);
    CHECK(f.low > -0.1);
    CHECK(f.high > 0);
    CHECK(f.high < 0.1);
    CHECK(says(f, "and 0 in FP16: the update divides by the root of the second."));
  }
  // Here eps is FP32 and 1e-8. That divides too, and the weights fly away.
  plan.steps = 20;
  plan.optimizer = adam(1e-3f, 1e-8f);
  const Finding f = finding_of(plan);
  check_place(f, 2, "forward", "layer 2", "linear", DType::f16);
  CHECK(says(f, "layer 2 weight between -536 and 505 (a step before: between -0.28"));
  plan.optimizer = adam(1e-3f, 1e-4f);
  CHECK(findings_of(plan).empty());
}

TEST_CASE("fault 8: the squares of pixels from 0 to 255") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.pixels.scale = data::PixelScale::raw;
  const auto with_norm = [](float shrink) {
    return custom([shrink](const std::vector<nn::Linear>& layers, const Tensor& images) {
      const Tensor y = logits_of(layers, images);
      const Tensor of_image = row_sums(square(scale(cast(images, DType::f16), shrink)));
      const Tensor ones = Tensor::from({1, 10}, std::vector<float>(10, 1), DType::f16);
      return add(y, matmul(of_image, ones));
    });
  };
  plan.model = with_norm(1);
  plan.optimizer = sgd(1e-6f);
  const Finding f = finding_of(plan);
  check_place(f, 1, "forward", "after layer 2", "row_sums",
              DType::f16);  // 220 squared fits, their sum does not
  CHECK(f.value == infinity);
  CHECK(f.low == 0);
  CHECK(f.high == 48384);  // 48400 in FP16
  CHECK(f.shape == "(16, 1)");
  plan.model = with_norm(2);
  const Finding squares = finding_of(plan);
  check_place(squares, 1, "forward", "after layer 2", "square", DType::f16);
  CHECK(squares.high == 440);
  plan.model = with_norm(1.0f / 64);
  CHECK(findings_of(plan).empty());
}

TEST_CASE("fault 9: a residual net too deep for FP16's forward range") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_dynamic, 3);
  plan.model = [](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::ResidualMlp>(32, 24, recipe, rng);
  };
  const Finding f = finding_of(plan);
  check_place(f, 1, "forward", "after block 20 second", "add", DType::f16);
  CHECK(std::isinf(f.value));
  CHECK(f.low < -50000);
  CHECK(f.low >= -65504);
  CHECK(f.high > 40000);
}

TEST_CASE("fault 10: an infinite value in one input image") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    std::vector<float> pixels = images.to_floats();
    pixels[5 * 784 + 14 * 28 + 3] = static_cast<float>(infinity);
    return logits_of(layers, Tensor::from(images.shape(), pixels));
  });
  const Finding f = finding_of(plan);
  check_place(f, 1, "input", "image 5, row 14, column 3", "cast", DType::f32);
  CHECK(f.value == infinity);
  CHECK(f.shape == "(16, 784)");
  CHECK(says(f, "before anything was computed the batch held infinity in image 5, row 14, column 3"));
}

TEST_CASE("fault 10: ... and in one channel of a coloured image") {
  data::Split data = made_up_split();
  for (data::Dataset* part : {&data.train, &data.validation, &data.test})
    part->shape = {.rows = 14, .cols = 28, .channels = 2};
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    std::vector<float> pixels = images.to_floats();
    pixels[5 * 784 + (7 * 28 + 3) * 2 + 1] = static_cast<float>(infinity);
    return logits_of(layers, Tensor::from(images.shape(), pixels));
  });
  check_place(finding_of(plan), 1, "input", "image 5, row 7, column 3, channel 1", "cast", DType::f32);
}

TEST_CASE("an infinite weight of an autoencoder's last layer is no image") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.model = [](const Recipe& recipe, Rng& rng) {
    auto model = std::make_unique<Custom>(recipe, rng, logits_of, 784);
    const Tensor weight = model->parameters()[2].value;  // (12, 784)
    weight.data<half>()[785] = half(static_cast<float>(infinity));
    return model;
  };
  const Finding f = finding_of(plan);
  check_place(f, 1, "input", "layer 2 weight", "linear", DType::f16);
  CHECK(
      says(f, "linear (layer 2 weight) was handed infinity that nothing computed, at place 785 of f16(12,"));
}

TEST_CASE("a fault on either side of a copy, and at its very step") {
  const data::Split data = made_up_split();
  for (const std::int64_t log_every : {1, 128, 300}) {
    Plan plan = small_plan(data, recipes::fp32, 300);
    plan.log_every = log_every;
    for (const std::int64_t step : {127, 128, 129, 256}) {
      INFO("step " << step << ", logged every " << log_every);
      const std::vector<float> fatal = images_of_step(plan, step);
      const auto at_fatal = [fatal](const Tensor& images, float then, float otherwise) {
        return images.to_floats() == fatal ? then : otherwise;
      };
      plan.optimizer = sgd(0.05f);
      plan.model = custom([=](const std::vector<nn::Linear>& layers, const Tensor& images) {
        return scale(logits_of(layers, images), at_fatal(images, static_cast<float>(infinity), 1));
      });
      const Finding lost = finding_of(plan);
      check_place(lost, step, "forward", "after layer 2", "scale", DType::f32);

      // A finite gradient whose update is infinite: only the next step's loss could show it.
      plan.optimizer = sgd(1e10f);
      plan.model = custom([=](const std::vector<nn::Linear>& layers, const Tensor& images) {
        const float slope = at_fatal(images, 1e30f, 1e-12f);
        return each(
            "steep", logits_of(layers, images), [](float v) { return v; },
            [slope](float, float) { return slope; });
      });
      const Finding update = finding_of(plan);
      CHECK(update.step == step);
      CHECK(update.direction == "update");
    }
  }
}

TEST_CASE("a twin drops what the run dropped, from a copy on, too") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 201);
  const std::vector<float> fatal = images_of_step(plan, 200);
  std::vector<Contents> dropped;  // what step 200 dropped: by the run, and by its twin
  plan.model = [&](const Recipe& recipe, Rng& rng) {
    return std::make_unique<Dropping>(recipe, rng, [&](const Tensor& images, const Tensor& y) {
      const bool now = images.to_floats() == fatal;
      if (now) dropped.push_back(contents_of(y));
      return scale(y, now ? static_cast<float>(infinity) : 1.0f);
    });
  };
  for (const std::int64_t log_every : {1, 300}) {
    dropped.clear();
    plan.log_every = log_every;
    const Finding f = finding_of(plan);
    check_place(f, 200, "forward", "after layer 2", "scale", DType::f32);
    REQUIRE(dropped.size() == 2);
    CHECK(f.low == dropped[0].low);
    CHECK(f.high == dropped[0].high);
  }
}

TEST_CASE("an update that breaks moment and weight at once is the first bad one, and passes nowhere") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp32;
  recipe.state = DType::f16;
  for (const std::int64_t steps : {200, 128, 5}) {  // a copy at 128, and the last step
    const std::int64_t step = std::min<std::int64_t>(steps, 128);
    Plan plan = small_plan(data, recipe, steps);
    const std::vector<float> fatal = images_of_step(plan, step);
    plan.model = custom([fatal](const std::vector<nn::Linear>& layers, const Tensor& images) {
      const float slope = images.to_floats() == fatal ? 1e8f : 1;
      return each(
          "steep", logits_of(layers, images), [](float v) { return v; },
          [slope](float, float) { return slope; });
    });
    plan.optimizer = adam(1e-3f, 1e-4f);
    const Finding f = finding_of(plan);  // infinity / sqrt(infinity), in both moments
    check_place(f, step, "update", "layer 1 weight", "Adam", DType::f16);
  }
}

TEST_CASE("a dynamic scale that falls below 1 names the parameter, once") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 4};
  Plan plan = small_plan(data, recipe, 8);
  plan.optimizer = sgd(0);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    const Tensor hidden = layers[0](cast(images, DType::f16), Activation::relu);
    const auto steep = [](const Tensor& x) {
      return record("steep", {x}, x.viewed_as(x.shape()),
                    [](const Tensor& dy, const Needs&) { return std::vector{scale(dy, 0x1p24f)}; });
    };
    return layers[1](steep(hidden));
  });
  const Finding f = finding_of(plan, "scale below 1");
  check_place(f, 3, "backward", "after layer 1", "steep", DType::f16);  // 4, 2, 1, and then
  CHECK(f.parameter == "layer 1 weight");
  CHECK(f.high < 1);
  CHECK_FALSE(says(f, "multiplied by S"));
  CHECK(says(f, "The first parameter that it reached is layer 1 weight. S backs off below 1"));

  // The twin goes on with the scale of where it starts, too.
  plan.recipe.scaling = DynamicScaling{.initial = 0x1p13f, .backoff = 0.9375};
  plan.steps = 145;
  const Finding late = finding_of(plan, "scale below 1");
  CHECK(late.step == 140);  // 8192 x 0.9375^139 = 1.04
  CHECK(says(late, "The loss was multiplied by S = 1.04."));
}

TEST_CASE("a run that does not repeat is said to have been lost sight of") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 5);
  int calls = 0, worst = 3;
  plan.model = custom([&](const std::vector<nn::Linear>& layers, const Tensor& images) {
    return scale(logits_of(layers, images), ++calls == worst ? static_cast<float>(infinity) : 1.0f);
  });
  const Finding f = finding_of(plan);
  CHECK(f.step == 3);
  CHECK(f.direction.empty());
  CHECK(says(f, "all was finite when steps 1 to 3 were run again"));
  calls = 0, worst = 140;
  plan.steps = 145;
  CHECK(says(finding_of(plan), "all was finite when steps 129 to 140 were run again"));
}

TEST_CASE("the same finding for any number of threads, however often the run is logged and copied") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 600);
  plan.model = custom(naive_softmax(1));
  plan.optimizer = sgd(0.021f, 0.9f);
  const Finding f = finding_of(plan);
  CHECK(f.step > 128);  // the copy of step 0 was not the last
  CHECK(f.op == "log");
  const int usual = threads();
  for (const std::int64_t log_every : {7, 50, 600}) {
    set_threads(log_every == 7 ? 1 : 3);
    plan.log_every = log_every;
    CHECK(finding_of(plan).sentence == f.sentence);
  }
  set_threads(usual);
}

}  // namespace
}  // namespace tinymp::test
