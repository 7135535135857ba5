#pragma once

#include <tinymp/base/error.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tinymp {

/// Random numbers that are the same on every machine and with every compiler.
///
/// The generator is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
/// 2014; the constants are those of Vigna's public-domain splitmix64.c). It is counter-based: number n (n =
/// 1, 2, ...) is a hash of seed + n * gamma and depends on nothing before it, so the whole state is (seed,
/// counter). The standard library's distributions and std::shuffle are not used: each
/// library implements them differently.
///
/// Never draw twice within one call, as in f(rng.uniform(0, 1), rng.uniform(0, 1)): C++ leaves it to the
/// compiler which argument is computed first.
class Rng {
 public:
  /// `counter` numbers count as drawn. Rng(r.seed(), r.counter()) continues where r stands.
  explicit constexpr Rng(std::uint64_t seed, std::uint64_t counter = 0) : seed_(seed), counter_(counter) {}

  constexpr std::uint64_t seed() const { return seed_; }
  constexpr std::uint64_t counter() const { return counter_; }

  /// 64 random bits.
  constexpr std::uint64_t next_u64() { return mix(seed_ + ++counter_ * gamma); }

  /// One of 2^24 evenly spaced values from lo to hi, in FP32. hi itself is never drawn from (0, 1); from
  /// other intervals only where lo + (hi - lo) * u rounds up to it.
  constexpr float uniform(float lo, float hi) {
    const float u = static_cast<float>(next_u64() >> 40) * 0x1p-24f;  // exact: 24 bits fit the significand
    return lo + (hi - lo) * u;
  }

  /// 0 .. n-1, each exactly as likely as the others. Throws Error when n is 0.
  std::uint64_t below(std::uint64_t n) {
    expect(n > 0, "Rng::below(0): there is no number below 0; ask for n >= 1");
    // 2^64 is rarely a multiple of n: the lowest 2^64 mod n values would make small remainders more likely.
    const std::uint64_t surplus = (0 - n) % n;
    std::uint64_t bits = next_u64();
    while (bits < surplus) bits = next_u64();
    return bits % n;
  }

  /// Every order is equally likely (Fisher and Yates; Knuth, TAOCP volume 2, algorithm 3.4.2 P).
  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t left = values.size(); left > 1; --left)
      std::swap(values[left - 1], values[static_cast<std::size_t>(below(left))]);
  }

  /// Returns a separate generator for one purpose: rng.split(0) for the weights, rng.split(1) for the order
  /// of the data. It depends on (seed, stream) alone, so drawing one more weight does not change the order of
  /// the data. The seeds of the streams are outputs of a SplitMix64
  /// generator, so no two streams share a seed.
  constexpr Rng split(std::uint64_t stream) const { return Rng(mix(mix(~seed_) + stream * gamma)); }

 private:
  static constexpr std::uint64_t gamma =
      0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd: visits every 64-bit value

  /// Variant 13 of the MurmurHash3 finaliser (Stafford 2011): a bijection that
  /// flips half the bits for any change.
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t seed_;
  std::uint64_t counter_;
};

}  // namespace tinymp
