#include <tests/amp/scaler_model.h>
#include <tests/amp/traces.h>

namespace tinymp::test {
namespace {

class ModelUnderTrace {
 public:
  ModelUnderTrace(float scale, double growth, double backoff, int interval, int tracker, int)
      : model_{scale, growth, backoff, interval, tracker} {}

  std::vector<bool> step(const std::vector<bool>& bad) {
    model_.update(bad);
    return ScalerModel::stepped(bad);
  }
  float scale() const { return model_.scale; }
  int tracker() const { return model_.tracker; }

 private:
  ScalerModel model_;
};

TEST_CASE("the model of GradScaler gives the recorded traces of PyTorch, bit for bit") {
  replay_all<ModelUnderTrace>();
}

}  // namespace
}  // namespace tinymp::test
