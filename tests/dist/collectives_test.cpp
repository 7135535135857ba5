#include <kernels/kernels.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/dist/on_ranks.h>
#include <tests/kernels/rig.h>
#include <tinymp/base/rng.h>
#include <tinymp/dist/collectives.h>
#include <algorithm>
#include <cmath>

/// What ranks do together. Sums are compared with additions in one thread, in the order that is promised.
namespace tinymp::test {
namespace {

using dist::Part;
using dist::Transport;

TEST_CASE("collectives: gather, broadcast, largest and barrier, of 1 to 5 ranks") {
  for (int count = 1; count <= 5; ++count) {
    const auto places = static_cast<std::size_t>(count);
    std::vector<std::vector<std::string>> gathered(places);
    std::vector<std::string> handed(places);
    std::vector<std::int64_t> largest(places);
    on_ranks(count, [&](Transport& ranks) {
      const auto r = static_cast<std::size_t>(ranks.rank());
      gathered[r] =
          dist::all_gather(ranks, std::string(3 * r, static_cast<char>('a' + r)));  // rank 0 gives ""
      handed[r] = dist::broadcast(ranks, concat("from ", r), ranks.ranks() - 1);
      largest[r] = dist::largest(ranks, r == 1 ? 7 : -3);
      dist::barrier(ranks);
    });
    for (std::size_t r = 0; r < places; ++r) {
      REQUIRE(gathered[r].size() == places);
      for (std::size_t from = 0; from < places; ++from)
        CHECK(gathered[r][from] == std::string(3 * from, static_cast<char>('a' + from)));
      CHECK(handed[r] == concat("from ", count - 1));
      CHECK(largest[r] == (count > 1 ? 7 : -3));
    }
  }
}

TEST_CASE("collectives: the owned elements cover a sum once, in shares that differ by one at most") {
  for (const std::int64_t size : {0, 1, 3, 7, 50890})
    for (int ranks = 1; ranks <= 9; ++ranks) {
      std::int64_t end = 0;
      for (int r = 0; r < ranks; ++r) {
        const dist::Owned owned = dist::owned_by(r, ranks, size);
        CHECK(owned.begin == end);
        CHECK(owned.end - owned.begin >= size / ranks);
        CHECK(owned.end - owned.begin <= size / ranks + 1);
        end = owned.end;
      }
      CHECK(end == size);
    }
}

/// Values whose sum depends on the order: of very different sizes.
Tensor uneven(std::int64_t size, DType format, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values;
  for (std::int64_t i = 0; i < size; ++i) {
    const float sign = rng.below(2) == 0 ? 1.0f : -1.0f;
    values.push_back(sign * std::ldexp(1.0f + static_cast<float>(rng.below(1000)) / 1000,
                                       static_cast<int>(rng.below(24)) - 12));
  }
  return Tensor::from({size}, values, format);
}

/// Three parameters of 5, 1 and 6 elements after 2 that have none; the last in two parts, of another format.
std::vector<Part> parts_of(int rank) {
  const auto seed = static_cast<std::uint64_t>(10 * rank);
  return {{8, uneven(6, DType::f16, seed)},
          {2, uneven(5, DType::f32, seed + 1)},
          {7, uneven(1, DType::bf16, seed + 2)},
          {8, uneven(6, DType::f16, seed + 3)}};
}

/// The two parts of the last parameter travel in two messages.
void sum_in_buckets(Transport& ranks, const View& sum) {
  const std::vector<Part> parts = parts_of(ranks.rank());
  const std::vector<dist::Owned> owned = dist::equally_owned(ranks.ranks(), sum.size());
  dist::ReduceScatter own(ranks, owned);
  own.begin(std::span(parts).first(3));
  own.begin(std::span(parts).subspan(3));
  own.wait();
  own.add_to(sum);
  dist::all_gather(ranks, sum, owned);
}

TEST_CASE("sum_in_rank_order: the bits of one thread that adds the parts in the order of the ranks") {
  for (const DType format : {DType::f32, DType::f16, DType::bf16})
    for (int count = 1; count <= 6; ++count) {
      const Tensor before = uneven(14, format, 99), expected = Tensor::like(before);
      kernels::cast(before.view(), expected.view());
      for (int r = 0; r < count; ++r) {
        std::vector<std::int64_t> seen;
        for (const Part& part : parts_of(r)) {
          const View into = expected.slice(part.first, part.values.shape()).view();
          const bool first = r == 0 && std::ranges::find(seen, part.first) == seen.end();
          seen.push_back(part.first);
          first ? kernels::cast(part.values.view(), into) : kernels::accumulate(part.values.view(), into);
        }
      }
      for (const bool in_buckets : {false, true}) {
        std::vector<Tensor> sums;
        for (int r = 0; r < count; ++r) {
          sums.push_back(Tensor::like(before));
          kernels::cast(before.view(), sums.back().view());
        }
        on_ranks(count, [&](Transport& ranks) {
          const View sum = sums[static_cast<std::size_t>(ranks.rank())].view();
          in_buckets ? sum_in_buckets(ranks, sum)
                     : dist::sum_in_rank_order(ranks, parts_of(ranks.rank()), sum);
        });
        INFO(count << " ranks, sums in " << format << (in_buckets ? ", in buckets" : ""));
        for (const Tensor& sum : sums) CHECK(bits_equal(sum, expected));
      }
    }
}

TEST_CASE("sum_in_rank_order: an infinity of one rank is that of all") {
  std::vector<Tensor> sums(3, Tensor());
  for (Tensor& sum : sums) sum = Tensor({2});
  on_ranks(3, [&](Transport& ranks) {
    const float value = ranks.rank() == 1 ? 60000.0f * 60000.0f * 1e30f : 1.0f;  // above FP32's largest
    const std::vector<Part> parts{{0, Tensor::from({2}, std::vector<float>{value, 2})}};
    dist::sum_in_rank_order(ranks, parts, sums[static_cast<std::size_t>(ranks.rank())].view());
  });
  for (const Tensor& sum : sums) {
    CHECK(std::isinf(sum.to_floats()[0]));
    CHECK(sum.to_floats()[1] == 6);
  }
}

TEST_CASE("ranks: messages arrive in the order of the calls, in whatever order they are waited for") {
  on_ranks(2, [](dist::Transport& ranks) {
    const std::size_t other = ranks.rank() == 0 ? 1 : 0;
    std::vector<std::byte> sent{std::byte{1}, std::byte{2}}, received(2);
    std::vector<std::unique_ptr<dist::Exchange>> exchanges;
    for (std::size_t i = 0; i < 2; ++i) {
      dist::Outgoing out(2);
      dist::Incoming in(2);
      out[other] = std::span(sent).subspan(i, 1);
      in[other] = std::span(received).subspan(i, 1);
      exchanges.push_back(ranks.begin(out, in));
    }
    exchanges[1]->wait();
    exchanges[0]->wait();
    if (received != sent) throw Error("the messages came in another order");
  });
}

TEST_CASE("ranks: one that is missing is named, and one that fails tells the others why") {
  const dist::ThreadRanks patient(3, std::chrono::milliseconds(200));
  const std::vector<std::string> missing = messages_on_ranks(patient, 3, [](Transport& ranks) {
    if (ranks.rank() != 2) dist::barrier(ranks);
  });
  CHECK(missing[0] == "rank 2 does not answer: it has ended, or it hangs");
  CHECK(missing[1].find("does not answer") != std::string::npos);
  CHECK(missing[2].empty());

  const dist::ThreadRanks ranks(3);
  const std::vector<std::string> failed = messages_on_ranks(ranks, 3, [](Transport& here) {
    if (here.rank() == 1)
      here.fail("the disk of rank 1 is full");
    else
      dist::barrier(here);
  });
  CHECK(failed == std::vector<std::string>{"the disk of rank 1 is full", "", "the disk of rank 1 is full"});
}

TEST_CASE("ranks: messages of other sizes than expected are refused") {
  const dist::ThreadRanks ranks(2, std::chrono::milliseconds(500));
  const std::vector<std::string> messages = messages_on_ranks(ranks, 2, [](Transport& here) {
    const std::vector<std::byte> own(here.rank() == 0 ? 3 : 4);
    dist::all_gather(here, own);
  });
  CHECK(messages[0].find("rank 1 sent 4 bytes to rank 0, which expects 3") != std::string::npos);
  CHECK_SAYS("0 ranks; there must be one at least", dist::ThreadRanks(0));
}

}  // namespace
}  // namespace tinymp::test
