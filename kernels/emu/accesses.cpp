#include <kernels/emu/accesses.h>
#include <kernels/emu/block.h>
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tinymp::kernels::emu::machine {
namespace {

constexpr std::uintptr_t sector = 32, word = 4, banks = 32, turn_bytes = 128;

struct LaneAccess {
  unsigned lane;
  std::uintptr_t address;
  std::size_t bytes;
};

/// The accesses of one block, until it ends.
struct Counter {
  std::vector<AddressRange> global;
  AddressRange statics;
  AccessCounts counts;

  uint3 block{};
  std::map<std::pair<unsigned, const void*>, unsigned> times;  ///< of a thread at a site
  using Key = std::tuple<unsigned, const void*, unsigned>;     ///< warp, site, time
  std::map<Key, std::vector<LaneAccess>> global_accesses, shared_accesses;

  static bool lies_in(const AddressRange& range, std::uintptr_t address) {
    return address >= range.first && address < range.second;
  }
  bool is_global(std::uintptr_t address) const {
    return std::ranges::any_of(global, [&](const AddressRange& range) { return lies_in(range, address); });
  }
  bool is_shared(std::uintptr_t address) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(Block::running()->shared());
    return lies_in({begin, begin + Block::running()->shared_bytes()}, address) || lies_in(statics, address);
  }

  void note(const void* memory, std::size_t bytes, const void* site) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const bool in_global = is_global(address);
    if (!in_global && !is_shared(address)) return;  // a register, or a variable of the emulation
    if (blockIdx.x != block.x || blockIdx.y != block.y || blockIdx.z != block.z) {
      end_block();
      block = blockIdx;
    }
    const Thread& thread = Block::running()->thread();
    const unsigned time = times[{thread.rank, site}]++;
    (in_global ? global_accesses : shared_accesses)[{thread.warp(), site, time}].push_back(
        {thread.lane(), address, bytes});
  }

  void end_block() {
    for (const auto& [key, lanes] : global_accesses) count_global(lanes);
    for (const auto& [key, lanes] : shared_accesses) count_shared(lanes);
    global_accesses.clear();
    shared_accesses.clear();
    times.clear();
  }

  void count_global(const std::vector<LaneAccess>& lanes) {
    std::set<std::uintptr_t> sectors;
    for (const LaneAccess& lane : lanes) {
      for (std::uintptr_t s = lane.address / sector; s <= (lane.address + lane.bytes - 1) / sector; ++s)
        sectors.insert(s);
      counts.bytes += lane.bytes;
    }
    ++counts.requests;
    counts.sectors += sectors.size();
  }

  /// As many neighbours take a turn together as want 128 bytes.
  void count_shared(const std::vector<LaneAccess>& lanes) {
    const std::size_t bytes = std::clamp<std::size_t>(lanes[0].bytes, word, turn_bytes);
    const auto together = static_cast<unsigned>(turn_bytes / bytes);
    std::map<unsigned, std::array<std::set<std::uintptr_t>, banks>> words;  // of each turn, in each bank
    for (const LaneAccess& lane : lanes) {
      for (std::uintptr_t w = lane.address / word; w <= (lane.address + lane.bytes - 1) / word; ++w)
        words[lane.lane / together][w % banks].insert(w);
    }
    for (const auto& [turn, of_banks] : words) {
      std::size_t turns = 0;
      for (const std::set<std::uintptr_t>& of_bank : of_banks) turns = std::max(turns, of_bank.size());
      ++counts.shared;
      counts.conflicts += turns - 1;
    }
  }
};

Counter* counter = nullptr;

}  // namespace

void count_accesses(std::vector<AddressRange> global, AddressRange statics) {
  delete counter;
  counter = new Counter{std::move(global), statics, {}, {}, {}, {}, {}};
}

AccessCounts counted_accesses() {
  counter->end_block();
  const AccessCounts counts = counter->counts;
  delete std::exchange(counter, nullptr);
  return counts;
}

bool is_shared(const void* address) {
  return counter != nullptr && counter->is_shared(reinterpret_cast<std::uintptr_t>(address));
}

void note_access(const void* address, std::size_t bytes, const void* site) {
  if (counter != nullptr && Block::running() != nullptr) counter->note(address, bytes, site);
}

}  // namespace tinymp::kernels::emu::machine
