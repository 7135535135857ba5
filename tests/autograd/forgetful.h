#pragma once

#include <tinymp/autograd/cast_policy.h>
#include <tinymp/autograd/recompute.h>
#include <memory>
#include <utility>

/// Recomputation as it goes wrong: the second run of a segment is not as the first was.
namespace tinymp::test {

enum class Forgets {
  casts,    ///< autocast is off in the second run
  effects,  ///< the second run draws, counts and registers as the first did
};

using Segment = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// The segment as recompute() would run it if it forgot something. A nn::Recomputing::Runner.
inline std::vector<Tensor> recompute_forgetfully(Forgets what, const Segment& segment,
                                                 std::vector<Tensor> inputs) {
  const auto runs = std::make_shared<int>(0);
  return recompute(Segment([what, segment, runs](const std::vector<Tensor>& x) {
                     struct Without {
                       Without(bool casts, bool effects) {
                         if (casts) set_cast_policy(nullptr);
                         if (effects) detail::segment_run = nullptr;
                       }
                       ~Without() {
                         set_cast_policy(policy);
                         detail::segment_run = run;
                       }
                       CastPolicy* policy = cast_policy();
                       detail::SegmentRun* run = detail::segment_run;
                     } without(what == Forgets::casts && *runs > 0, what == Forgets::effects);
                     ++*runs;
                     return segment(x);
                   }),
                   std::move(inputs));
}

}  // namespace tinymp::test
