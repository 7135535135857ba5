#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <lessons/lab/report/number.h>
#include <algorithm>
#include <functional>
#include <vector>

// The rules by which libraries move S, each in a few lines, on the same overflows. Sources: apex/amp/scaler.py and
// csrc/update_scale_hysteresis.cu of NVIDIA's Apex, megatron/core/optimizer/grad_scaler.py, fairseq/optim/dynamic_loss_scaler.py,
// deepspeed/runtime/fp16/loss_scaler.py. Nothing of their text is here.
namespace tinymp::lab {
namespace {

constexpr double first = 65536, least = 1024;
constexpr int window = 20;  ///< good steps before S grows
constexpr int hysteresis = 2;

/// Takes whether a step overflowed, and moves S. False: the library stops the run with an error.
using Scaler = std::function<bool(double& scale, bool bad)>;

Scaler ours(const LossScaling& policy) {
  return [policy, state = first_state(policy)](double& scale, bool bad) mutable {
    state.bad = bad;
    state = next_state(policy, state);
    scale = static_cast<double>(state.scale);
    return true;
  };
}

Scaler apex(double floor) {
  return [floor, good = 0](double& scale, bool bad) mutable {
    if (bad) {
      scale = std::max(floor, scale / 2), good = 0;
    } else if (++good == window) {
      scale = std::min(scale * 2, 0x1p24), good = 0;
    }
    return true;
  };
}

/// Forgives until `hysteresis` overflows have come without a good step between them.
Scaler apex_kernel() {
  return [good = 0, left = hysteresis](double& scale, bool bad) mutable {
    if (!bad) {
      left = hysteresis;
      if (++good == window) scale *= 2, good = 0;
      return true;
    }
    good = 0;
    if (--left <= 0) scale /= 2;
    return true;
  };
}

/// The count is full again when S grows, and not before: the overflows need not follow each other.
Scaler megatron(double floor) {
  return [floor, good = 0, left = hysteresis](double& scale, bool bad) mutable {
    if (bad) {
      good = 0;
      if (--left <= 0) scale = std::max(scale / 2, floor);
    } else if (++good == window) {
      good = 0, left = hysteresis, scale *= 2;
    }
    return true;
  };
}

/// S grows whenever the steps since the last overflow are a multiple of the window. 0: no threshold.
Scaler fairseq(double threshold) {
  return [threshold, step = 0, last_bad = -1](double& scale, bool bad) mutable {
    constexpr double stops_at = 1e-4;
    if (bad) {
      last_bad = step;
      scale = std::max(scale / 2, threshold);
      if (scale <= stops_at) return false;
    } else if ((step - last_bad) % window == 0) {
      scale *= 2;
    }
    ++step;
    return true;
  };
}

Scaler deepspeed(double floor, int shift) {
  return [floor, shift, left = shift, step = 0, last_bad = -1](double& scale, bool bad) mutable {
    if (bad) {
      last_bad = step;
      if (shift > 1 && left > 1) {
        --left;
      } else if (scale == floor) {
        return false;  // "Current loss scale already at minimum"
      } else {
        scale = std::max(scale / 2, floor);
      }
    } else if ((step - last_bad) % window == 0) {
      left = shift, scale *= 2;
    }
    ++step;
    return true;
  };
}

struct Library {
  std::string name;
  std::function<Scaler()> make;
};

std::vector<Library> libraries(bool with_floor) {
  const DynamicScaling moves{.growth_interval = window};
  EnhancedScaling rising{.dynamic = moves};
  if (with_floor) rising.floor = {.at = {{1, static_cast<float>(least)}}, .count = 1};
  return {{"dynamic (PyTorch)", [=] { return ours(moves); }},
          {"enhanced, floor 1024", [=] { return ours(rising); }},
          {"Apex, min_loss_scale 1024", [] { return apex(least); }},
          {"Apex, hysteresis 2", [] { return apex_kernel(); }},
          {"Megatron, both", [] { return megatron(least); }},
          {"fairseq, threshold 1024", [] { return fairseq(least); }},
          {"fairseq", [] { return fairseq(0); }},
          {"DeepSpeed, min_scale 1024", [] { return deepspeed(least, 1); }},
          {"DeepSpeed, both", [] { return deepspeed(least, hysteresis); }}};
}

/// S after some steps, as text.
std::vector<std::string> traced(Scaler scaler, const std::function<bool(int)>& is_bad,
                                const std::vector<int>& after) {
  double scale = first;
  std::vector<std::string> found;
  int stopped = 0;
  for (int step = 1; step <= after.back(); ++step) {
    if (stopped == 0 && !scaler(scale, is_bad(step))) stopped = step;
    if (std::ranges::find(after, step) != after.end())
      found.push_back(stopped > 0 ? fmt::format("stop {}", stopped) : report::scale_text(scale));
  }
  return found;
}

}  // namespace

void show_scalers(Lab& lab) {
  lab.say(fmt::format("\nS begins at {} and may grow after {} good steps", first, window));
  lab.say("                            an overflow every 10 steps  8 overflows  40 good");
  lab.say("  S after                        100      200      400     in a row    steps");
  std::vector<std::string> ends;
  for (const Library& library : libraries(!lab.sabotaged())) {
    const std::vector<std::string> drip =
        traced(library.make(), [](int step) { return step % 10 == 0; }, {100, 200, 400});
    ends.push_back(drip[2]);
    const std::vector<std::string> burst =
        traced(library.make(), [](int step) { return step <= 8; }, {8, 48});
    lab.say(fmt::format("  {:<26} {:>8} {:>8} {:>8} {:>12} {:>8}", library.name, drip[0], drip[1], drip[2],
                        burst[0], burst[1]));
  }
  lab.claim(ends[0] == "2^-24" && ends[1] == report::scale_text(least),
            fmt::format("400 steps, each tenth overflows: a dynamic S ends at {}, an enhanced one at {}",
                        ends[0], ends[1]),
            Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
