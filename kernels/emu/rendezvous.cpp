#include <kernels/emu/block.h>
#include <kernels/emu/rendezvous.h>
#include <kernels/emu/sanitizer.h>
#include <tinymp/base/error.h>
#include <bit>
#include <cstring>

namespace tinymp::kernels::emu::machine {
namespace {

std::string text_of(const Call& call) {
  return concat(call.name, "() at ", call.where.file, ":", call.where.line);
}

bool same(const Call& a, const Call& b) {
  const auto equal = [](const char* x, const char* y) { return x == y || std::strcmp(x, y) == 0; };
  return a.where.line == b.where.line && equal(a.name, b.name) && equal(a.where.file, b.where.file);
}

/// The first thread to come decides the call of the meeting. Throws Error for another call.
void join(const Block& block, Rendezvous& meeting, const Call& call, const char* rule) {
  if (meeting.waiting.empty()) {
    meeting.call = call;
  } else if (!same(meeting.call, call)) {
    block.fail(concat(text_of(call), ", but ", block.name_of(*meeting.waiting.front()), " waits in ",
                      text_of(meeting.call), "; ", rule));
  }
}

Rendezvous& meeting_of(Warp& warp, unsigned mask) {
  for (Rendezvous& meeting : warp.meetings) {
    if (meeting.mask == mask) return meeting;
  }
  warp.meetings.emplace_back();
  warp.meetings.back().mask = mask;
  return warp.meetings.back();
}

Block& running() {
  Block* const block = Block::running();
  expect(block != nullptr, "emulation: __syncthreads() or a warp function was called outside of a kernel");
  return *block;
}

/// The thread of this warp with this lane.
const Thread& lane_of(Block& block, int lane) {
  return block.thread(block.thread().warp() * 32 + static_cast<unsigned>(lane));
}

}  // namespace

int lane() { return static_cast<int>(running().thread().lane()); }

void refuse(Call call, const std::string& why) { running().fail(concat(text_of(call), ": ", why)); }

void meet_block(Call call) {
  const Quiet quiet;
  Block& block = running();
  Rendezvous& meeting = block.barrier();
  if (block.returned() > 0) {
    unsigned rank = 0;
    while (block.thread(rank).state != Thread::State::returned) ++rank;
    block.fail(concat(text_of(call), ", but ", block.name_of(block.thread(rank)),
                      " has returned; let every thread come there: put the work into an `if` instead of "
                      "returning early"));
  }
  join(block, meeting, call,
       "all threads of a block must meet in the same barrier: take it out of the branch");
  char* const tag = &meeting.tags[meeting.generation % 2];
  publish(tag);
  if (meeting.waiting.size() + 1 == block.size()) {
    block.wake(meeting);
  } else {
    block.wait_in(meeting, call);
  }
  observe(tag);
}

namespace detail {

void meet_lanes(Call call, Meeting kind, unsigned mask, void* offer, Work work) {
  const Quiet quiet;
  Block& block = running();
  Warp& warp = block.warp();
  const unsigned me = block.thread().lane();
  if (kind == Meeting::warp && warp.lanes != ~0u) {
    block.fail(concat(text_of(call), " takes all 32 lanes of a warp, and this one has ",
                      std::popcount(warp.lanes), "; launch blocks of a multiple of 32 threads"));
  }
  if ((mask >> me & 1) == 0) {
    std::ostringstream hex;
    hex << std::hex << mask;
    block.fail(concat(text_of(call), ": the mask 0x", hex.str(), " does not name the calling lane ", me));
  }
  if (const unsigned gone = mask & warp.returned) {
    block.fail(concat(text_of(call), ", but ", block.name_of(lane_of(block, std::countr_zero(gone))),
                      ", which the mask names, has returned; let every lane come there, or leave it out of "
                      "the mask"));
  }
  Rendezvous& meeting = meeting_of(warp, mask);
  join(block, meeting, call, "all lanes named in a mask must make the same call: take it out of the branch");
  if (meeting.waiting.empty()) meeting.offers.fill(nullptr);
  meeting.offers[me] = offer;
  char* const tag = &meeting.tags[meeting.generation % 2];
  if (kind == Meeting::memory) publish(tag);
  const auto expected = static_cast<std::size_t>(std::popcount(mask & warp.lanes));
  if (meeting.waiting.size() + 1 == expected) {
    work(meeting.offers.data());
    block.wake(meeting);
  } else {
    block.wait_in(meeting, call);
  }
  if (kind == Meeting::memory) observe(tag);
}

}  // namespace detail

}  // namespace tinymp::kernels::emu::machine
