#pragma once

#include <kernels/emu/where.h>
#include <string>

/// The rendezvous: threads wait until all expected ones have come, then all go on. A barrier is a rendezvous.
/// A shuffle, a vote and an mma are one, too: each lane brings a value, and the last to come does the work of
/// the whole warp.
namespace tinymp::kernels::emu::machine {

/// All threads of the block meet. After it each can read what the others wrote before it. Throws Error when
/// some wait in another barrier, or have returned.
void meet_block(Call call);

/// The demands of a rendezvous of lanes, besides the lanes of its mask.
enum class Meeting {
  lanes,   ///< exchanges values, orders no memory: shuffles, votes
  memory,  ///< orders memory too: __syncwarp
  warp,    ///< needs all 32 lanes: wmma, mma, ldmatrix
};

namespace detail {
using Work = void (*)(void* const* offers);
void meet_lanes(Call call, Meeting kind, unsigned mask, void* offer, Work work);
}  // namespace detail

/// The offers of the lanes, by lane; null for a lane that does not take part.
template <class Offer>
class Lanes {
 public:
  explicit Lanes(void* const* offers) : offers_(offers) {}
  Offer* operator[](int lane) const { return static_cast<Offer*>(offers_[lane]); }

 private:
  void* const* offers_;
};

/// The lanes of `mask` meet. The last to come calls work(Lanes<Offer>) for all. `work` captures nothing.
/// Throws Error when lanes make different calls, or when a lane of `mask` has returned.
template <class Offer, class Work>
void meet_lanes(Call call, Meeting kind, unsigned mask, Offer& offer, Work) {
  detail::meet_lanes(call, kind, mask, &offer, [](void* const* offers) { Work{}(Lanes<Offer>(offers)); });
}
/// The same without offers.
inline void meet_lanes(Call call, Meeting kind, unsigned mask) {
  detail::meet_lanes(call, kind, mask, nullptr, [](void* const*) {});
}

/// The lane of the calling CUDA thread.
int lane();
/// Throws Error that begins with kernel, block and thread.
[[noreturn]] void refuse(Call call, const std::string& why);

}  // namespace tinymp::kernels::emu::machine
