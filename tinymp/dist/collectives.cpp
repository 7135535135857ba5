#include <kernels/kernels.h>
#include <tinymp/dist/collectives.h>
#include <algorithm>
#include <cstring>
#include <set>

namespace tinymp::dist {
namespace {

std::size_t count_of(const Transport& ranks) { return static_cast<std::size_t>(ranks.ranks()); }
std::size_t own_place(const Transport& ranks) { return static_cast<std::size_t>(ranks.rank()); }

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text));
}

}  // namespace

std::vector<std::vector<std::byte>> all_gather(Transport& ranks, std::span<const std::byte> own) {
  std::vector<std::vector<std::byte>> all(count_of(ranks), std::vector<std::byte>(own.size()));
  std::ranges::copy(own, all[own_place(ranks)].begin());
  ranks.exchange(Outgoing(all.size(), own), Incoming(all.begin(), all.end()));
  return all;
}

std::vector<std::string> all_gather(Transport& ranks, const std::string& own) {
  const std::uint64_t size = own.size();
  const std::vector<std::vector<std::byte>> sizes = all_gather(ranks, std::as_bytes(std::span(&size, 1)));
  std::vector<std::string> all(sizes.size());
  Incoming in;
  for (std::size_t r = 0; r < all.size(); ++r) {
    std::uint64_t of_rank = 0;
    std::memcpy(&of_rank, sizes[r].data(), sizeof of_rank);
    all[r].resize(of_rank);
    in.push_back(std::as_writable_bytes(std::span<char>(all[r])));
  }
  ranks.exchange(Outgoing(all.size(), bytes_of(own)), in);
  all[own_place(ranks)] = own;
  return all;
}

std::string broadcast(Transport& ranks, const std::string& text, int from) {
  const bool gives = ranks.rank() == from;
  std::uint64_t size = text.size();
  const auto hand_on = [&](std::span<std::byte> bytes) {
    Incoming in(count_of(ranks));
    if (!gives) in[static_cast<std::size_t>(from)] = bytes;
    ranks.exchange(Outgoing(in.size(), gives ? bytes : std::span<std::byte>()), in);
  };
  hand_on(std::as_writable_bytes(std::span(&size, 1)));
  std::string handed = gives ? text : std::string(size, '\0');
  hand_on(std::as_writable_bytes(std::span<char>(handed)));
  return handed;
}

std::int64_t largest(Transport& ranks, std::int64_t own) {
  std::int64_t most = own;
  for (const std::vector<std::byte>& bytes : all_gather(ranks, std::as_bytes(std::span(&own, 1)))) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    most = std::max(most, value);
  }
  return most;
}

void barrier(Transport& ranks) { static_cast<void>(largest(ranks, 0)); }

Owned owned_by(int rank, int ranks, std::int64_t size) {
  return {size * rank / ranks, size * (rank + 1) / ranks};
}

std::vector<Owned> equally_owned(int ranks, std::int64_t size) {
  std::vector<Owned> owned;
  for (int r = 0; r < ranks; ++r) owned.push_back(owned_by(r, ranks, size));
  return owned;
}

namespace {

/// The elements of a part that a rank owns, counted from the first of the sum.
Owned common(const Part& part, const Owned& owned) {
  const std::int64_t end = part.first + part.values.size();
  return {std::clamp(owned.begin, part.first, end), std::clamp(owned.end, part.first, end)};
}

std::size_t bytes_in(const Owned& range, DType format) {
  return static_cast<std::size_t>(range.end - range.begin) * size_of(format);
}

/// `range` of a view whose first element is number `first`.
View part_of(const View& whole, std::int64_t first, const Owned& range) {
  return {whole.data<std::byte>() + static_cast<std::size_t>(range.begin - first) * size_of(whole.dtype),
          whole.dtype, whole.device, Shape{range.end - range.begin}};
}

/// What the parts have of the elements that a rank owns, one after another.
std::vector<std::byte> message_for(std::span<const Part> parts, const Owned& owned) {
  std::vector<std::byte> message;
  for (const Part& part : parts) {
    const View values = part_of(part.values.view(), part.first, common(part, owned));
    const std::byte* const begin = values.data<std::byte>();
    message.insert(message.end(), begin, begin + bytes_in({0, values.size()}, values.dtype));
  }
  return message;
}

/// Adds the parts of one rank, which lie in `message`, to the sum. `begun` has the first elements of what has a value.
void add(std::span<const Part> parts, const Owned& owned, std::vector<std::byte>& message, const View& sum,
         std::set<std::int64_t>& begun) {
  std::size_t at = 0;
  for (const Part& part : parts) {
    const Owned range = common(part, owned);
    const std::size_t bytes = bytes_in(range, part.values.dtype());
    // A value of its own memory: behind a part of another format it may lie anywhere in the message.
    const Tensor values({range.end - range.begin}, part.values.dtype());
    if (bytes > 0) std::memcpy(values.view().memory, message.data() + at, bytes);
    at += bytes;
    const bool is_first = begun.insert(part.first).second;
    if (bytes == 0) continue;
    const View into = part_of(sum, 0, range);
    if (is_first)
      kernels::cast(values.view(), into);
    else
      kernels::accumulate(values.view(), into);
  }
}

}  // namespace

void ReduceScatter::begin(std::span<const Part> parts) {
  Bucket& bucket = buckets_.emplace_back();
  bucket.parts.assign(parts.begin(), parts.end());
  for (const Part& part : parts)
    expect(part.first >= 0 && part.first + part.values.size() <= owned_.back().end,
           "sum_in_rank_order: ", part.values.size(), " values from element ", part.first,
           " on do not lie in a sum of ", owned_.back().end);
  for (const Owned& range : owned_) bucket.sent.push_back(message_for(parts, range));
  const std::size_t own = own_place(ranks_);
  bucket.received.resize(bucket.sent.size(), std::vector<std::byte>(bucket.sent[own].size()));
  bucket.under_way = ranks_.begin(Outgoing(bucket.sent.begin(), bucket.sent.end()),
                                  Incoming(bucket.received.begin(), bucket.received.end()));
}

void ReduceScatter::wait() {
  for (Bucket& bucket : buckets_) {
    bucket.under_way->wait();
    bucket.received[own_place(ranks_)] = std::move(bucket.sent[own_place(ranks_)]);
    bucket.sent.clear();
  }
}

void ReduceScatter::add_to(const View& sum) {
  expect(sum.device == Device::cpu, "sum_in_rank_order: the sum lies on ", sum.device, ", not on the CPU");
  std::set<std::int64_t> begun;
  for (std::size_t r = 0; r < owned_.size(); ++r)
    for (Bucket& bucket : buckets_)
      add(bucket.parts, owned_[own_place(ranks_)], bucket.received[r], sum, begun);
}

void all_gather(Transport& ranks, const View& values, std::span<const Owned> owned) {
  Incoming in;
  for (const Owned& range : owned)
    in.emplace_back(part_of(values, 0, range).data<std::byte>(), bytes_in(range, values.dtype));
  ranks.exchange(Outgoing(in.size(), in[own_place(ranks)]), in);
}

void sum_in_rank_order(Transport& ranks, std::span<const Part> parts, const View& sum) {
  const std::vector<Owned> owned = equally_owned(ranks.ranks(), sum.size());
  ReduceScatter own(ranks, owned);
  own.begin(parts);
  own.wait();
  own.add_to(sum);
  all_gather(ranks, sum, owned);
}

}  // namespace tinymp::dist
