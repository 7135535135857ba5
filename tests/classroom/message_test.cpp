#include <lessons/lab/classroom/message.h>
#include <tests/catch.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <vector>

// What passes between a judge and a program with a submission in it: nothing that arrives may be believed.
namespace tinymp::test {
namespace {

using exercise::Malformed;
using exercise::Message;

}  // namespace

TEST_CASE("message: what is put is taken, in its order and where it lies") {
  Message message;
  message.put(3.5f).put_all(std::vector<std::uint16_t>{1, 2, 3}).put_text("words").put(std::uint8_t{9});
  CHECK(message.take<float>() == 3.5f);
  const std::span<const std::uint16_t> list = message.all<std::uint16_t>(3);
  CHECK(reinterpret_cast<std::uintptr_t>(list.data()) % 8 == 0);
  CHECK(std::vector(list.begin(), list.end()) == std::vector<std::uint16_t>{1, 2, 3});
  CHECK(message.text() == "words");
  CHECK_FALSE(message.at_end());
  CHECK(message.take<std::uint8_t>() == 9);
  CHECK(message.at_end());
}

TEST_CASE("message: a message that ends early, or claims more than it has, is refused") {
  Message empty;
  CHECK_THROWS_AS(empty.take<char>(), Malformed);
  for (const std::uint64_t claimed :
       {std::uint64_t{3}, std::uint64_t{1} << 61, std::numeric_limits<std::uint64_t>::max()}) {
    Message message;
    message.put(claimed).put(1.0);
    CHECK_THROWS_AS(message.all<double>(), Malformed);
  }
  Message two;
  two.put_all(std::vector<float>{1, 2});
  CHECK_THROWS_AS(two.take_all<float>(3), Malformed);
}

TEST_CASE("message: a pipe that closes is no message, and a length beyond all bounds takes no memory") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  Message sent, received;
  sent.put_text("once");
  CHECK(exercise::send(ends[1], sent));
  CHECK(exercise::receive(ends[0], received));
  CHECK(received.text() == "once");
  const std::uint64_t endless = std::uint64_t{1} << 60;
  CHECK(write(ends[1], &endless, sizeof endless) == sizeof endless);
  CHECK_THROWS_AS(exercise::receive(ends[0], received), Malformed);
  const std::uint64_t short_of = 100;
  CHECK(write(ends[1], &short_of, sizeof short_of) == sizeof short_of);
  close(ends[1]);
  CHECK_FALSE(exercise::receive(ends[0], received));
  close(ends[0]);
}

}  // namespace tinymp::test
