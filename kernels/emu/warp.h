#pragma once

#include <kernels/emu/rendezvous.h>
#include <tinymp/base/error.h>
#include <bit>

/// Lanes of a warp read each other's registers. CUDA C++ Programming Guide, "Warp Shuffle Functions" and
/// "Warp Vote Functions". These functions order no memory; __syncwarp() does.
namespace tinymp::kernels::emu {
namespace machine {

/// `from` is the lane whose value this lane receives.
template <class T>
T shuffle(const char* name, Where where, unsigned mask, T value, int from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 2, "a shuffle moves 2, 4 or 8 bytes");
  struct Offer {
    T value, result;
    int from;
    Call call;
  } offer{value, value, from, {name, where}};
  meet_lanes({name, where}, Meeting::lanes, mask, offer, [](Lanes<Offer> lanes) {
    for (int lane = 0; lane < 32; ++lane) {
      if (lanes[lane] == nullptr) continue;
      const Offer* const source = lanes[lanes[lane]->from];
      if (source == nullptr) {
        refuse(lanes[lane]->call, concat("lane ", lane, " reads from lane ", lanes[lane]->from,
                                         ", which takes no part: its value is undefined"));
      }
      lanes[lane]->result = source->value;
    }
  });
  return offer.result;
}

/// One bit for each lane whose predicate holds.
inline unsigned vote(const char* name, Where where, unsigned mask, bool predicate) {
  struct Offer {
    bool predicate;
    unsigned result;
  } offer{predicate, 0};
  meet_lanes({name, where}, Meeting::lanes, mask, offer, [](Lanes<Offer> lanes) {
    unsigned ballot = 0;
    for (int lane = 0; lane < 32; ++lane) {
      if (lanes[lane] != nullptr && lanes[lane]->predicate) ballot |= 1u << lane;
    }
    for (int lane = 0; lane < 32; ++lane) {
      if (lanes[lane] != nullptr) lanes[lane]->result = ballot;
    }
  });
  return offer.result;
}

}  // namespace machine

// `width` cuts the warp into groups of 2, 4, 8, 16 or 32 lanes; no lane reads outside of its group.

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32,
              machine::Where where = machine::Where::here()) {
  const int lane = machine::lane(), first = lane / width * width;
  return machine::shuffle("__shfl_sync", where, mask, value, first + (from & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 machine::Where where = machine::Where::here()) {
  const int lane = machine::lane(), from = lane - static_cast<int>(delta);
  return machine::shuffle("__shfl_up_sync", where, mask, value, from < lane / width * width ? lane : from);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   machine::Where where = machine::Where::here()) {
  const int lane = machine::lane(), from = lane + static_cast<int>(delta);
  return machine::shuffle("__shfl_down_sync", where, mask, value,
                          from >= lane / width * width + width ? lane : from);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32,
                  machine::Where where = machine::Where::here()) {
  const int lane = machine::lane(), from = lane ^ bits;
  return machine::shuffle("__shfl_xor_sync", where, mask, value,
                          from >= lane / width * width + width ? lane : from);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, machine::Where where = machine::Where::here()) {
  return machine::vote("__ballot_sync", where, mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate, machine::Where where = machine::Where::here()) {
  return machine::vote("__any_sync", where, mask, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate, machine::Where where = machine::Where::here()) {
  return machine::vote("__all_sync", where, mask, predicate == 0) == 0;
}

// These work on one thread alone.
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }

}  // namespace tinymp::kernels::emu
