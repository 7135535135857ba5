#pragma once

#include <kernels/emu/where.h>
#include <string>

/// The rendezvous: threads wait until all who are expected have come, then all go on. A barrier is nothing
/// else; a shuffle, a vote, an mma are a rendezvous to which each lane brings something, and where the last
/// one to come does the work of the whole warp.
namespace tinymp::kernels::emu::machine {

/// All threads of the block. What they wrote before it, all can read after it. Throws Error when some wait in
/// another barrier, or have returned.
void meet_block(Call call);

/// What a rendezvous of lanes asks for besides the lanes of its mask.
enum class Meeting {
  lanes,   ///< exchanges values, orders no memory: shuffles, votes
  memory,  ///< orders memory too: __syncwarp
  warp,    ///< needs all 32 lanes: wmma, mma, ldmatrix
};

namespace detail {
using Work = void (*)(void* const* offers);
void meet_lanes(Call call, Meeting kind, unsigned mask, void* offer, Work work);
}  // namespace detail

/// What the lanes brought, by lane; null for a lane that does not take part.
template <class Offer>
class Lanes {
 public:
  explicit Lanes(void* const* offers) : offers_(offers) {}
  Offer* operator[](int lane) const { return static_cast<Offer*>(offers_[lane]); }

 private:
  void* const* offers_;
};

/// The lanes of `mask` meet; the last to come calls work(Lanes<Offer>) for all. `work` captures nothing.
/// Throws Error when lanes make different calls, or when one that is named in `mask` has returned.
template <class Offer, class Work>
void meet_lanes(Call call, Meeting kind, unsigned mask, Offer& offer, Work) {
  detail::meet_lanes(call, kind, mask, &offer, [](void* const* offers) { Work{}(Lanes<Offer>(offers)); });
}
/// No thread brings a value.
inline void meet_lanes(Call call, Meeting kind, unsigned mask) {
  detail::meet_lanes(call, kind, mask, nullptr, [](void* const*) {});
}

/// The lane of the CUDA thread that calls.
int lane();
/// Throws Error that begins with kernel, block and thread.
[[noreturn]] void refuse(Call call, const std::string& why);

}  // namespace tinymp::kernels::emu::machine
