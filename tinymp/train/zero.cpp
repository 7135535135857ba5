#include <tinymp/train/zero.h>
#include <cstring>

namespace tinymp::train {
namespace {

std::vector<dist::Owned> owned_of(const std::vector<Shards::Range>& ranges) {
  std::vector<dist::Owned> owned;
  for (const Shards::Range& range : ranges) owned.push_back({range.begin, range.end});
  return owned;
}

std::vector<std::vector<std::int64_t>> all_gather_numbers(dist::Transport& ranks,
                                                          std::span<const std::int64_t> own) {
  std::vector<std::vector<std::int64_t>> all;
  for (const std::vector<std::byte>& bytes : dist::all_gather(ranks, std::as_bytes(own)))
    std::memcpy(all.emplace_back(own.size()).data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace

RankShards::RankShards(dist::Transport& ranks, std::int64_t size)
    : Shards(size, ranks.ranks(), ranks.rank()), ranks_(ranks) {}

std::vector<dist::Owned> RankShards::owned() const { return owned_of(ranges()); }

void RankShards::all_gather(const View& block, const std::vector<Range>& ranges) const {
  dist::all_gather(ranks_, block, owned_of(ranges));
}

void RankShards::sum(std::span<std::int64_t> counts) const {
  const std::vector<std::vector<std::int64_t>> all = all_gather_numbers(ranks_, counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = 0;
    for (const std::vector<std::int64_t>& of_rank : all) counts[i] += of_rank[i];
  }
}

Tensor RankShards::collect(const Tensor& own) const {
  const bool gives = ranks_.rank() > 0;
  const Tensor whole = gives ? Tensor() : Tensor({size()}, own.dtype());
  const auto bytes = [](const View& view, const Range& range) {
    const std::size_t width = size_of(view.dtype);
    return std::span(view.data<std::byte>() + static_cast<std::size_t>(range.begin) * width,
                     static_cast<std::size_t>(range.size()) * width);
  };
  const std::span<std::byte> here = bytes(own.view(), {0, own.size()});
  dist::Outgoing out(ranges().size());
  dist::Incoming in(ranges().size());
  if (gives) {
    out[0] = here;
  } else {
    for (std::size_t r = 0; r < in.size(); ++r) in[r] = bytes(whole.view(), ranges()[r]);
    if (!here.empty()) std::memcpy(in[0].data(), here.data(), here.size());
  }
  ranks_.exchange(out, in);
  return whole;
}

void RankShards::tell(Next next) const {
  if (ranks_.rank() > 0) return;
  const auto byte = static_cast<std::byte>(next);
  ranks_.exchange(dist::Outgoing(ranges().size(), std::span(&byte, 1)), dist::Incoming(ranges().size()));
}

RankShards::Next RankShards::hear() const {
  std::byte byte{};
  dist::Incoming in(ranges().size());
  in[0] = std::span(&byte, 1);
  ranks_.exchange(dist::Outgoing(ranges().size()), in);
  return static_cast<Next>(byte);
}

std::vector<std::int64_t> RankShards::end(std::int64_t own) const {
  tell(Next::end);
  std::vector<std::int64_t> all;
  for (const std::vector<std::int64_t>& of_rank : all_gather_numbers(ranks_, std::span(&own, 1)))
    all.push_back(of_rank[0]);
  return all;
}

}  // namespace tinymp::train
