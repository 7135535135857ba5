#pragma once

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// The messages between the judge of an exercise and the program with the submission: requests one way,
/// replies the other. Neither process sees the other's memory.
namespace tinymp::exercise {

/// Thrown when a message ends early, or is longer than a message may be.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A message holds numbers, lists of numbers and texts. They are taken in the order in which they were put.
/// Each begins at a multiple of 8 bytes, so that a list can be read in place.
class Message {
 public:
  Message() = default;
  explicit Message(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  Message& put(const T& value) {
    return put_bytes(&value, sizeof(T), std::is_trivially_copyable<T>{});
  }
  template <class T>
  Message& put_all(std::span<const T> values) {
    put(std::uint64_t{values.size()});
    return put_bytes(values.data(), values.size_bytes(), std::is_trivially_copyable<T>{});
  }
  template <class T>
  Message& put_all(const std::vector<T>& values) {
    return put_all(std::span<const T>(values));
  }
  Message& put_text(std::string_view text) { return put_all(std::span<const char>(text)); }

  template <class T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, next(sizeof(T)), sizeof(T));
    return value;
  }
  /// A list, read in place: valid as long as the message.
  template <class T>
  std::span<const T> all() {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool> && alignof(T) <= 8);
    const auto count = take<std::uint64_t>();
    if (count > bytes_.size()) throw Malformed("a list is longer than its message");
    return {reinterpret_cast<const T*>(next(count * sizeof(T))), count};
  }
  /// Throws Malformed when the list has another length.
  template <class T>
  std::span<const T> all(std::size_t length) {
    const std::span<const T> values = all<T>();
    if (values.size() != length) throw Malformed("a list has another length than it should have");
    return values;
  }
  template <class T>
  std::vector<T> take_all() {
    const std::span<const T> values = all<T>();
    return {values.begin(), values.end()};
  }
  template <class T>
  std::vector<T> take_all(std::size_t length) {
    const std::span<const T> values = all<T>(length);
    return {values.begin(), values.end()};
  }
  std::string text() {
    const std::span<const char> letters = all<char>();
    return {letters.begin(), letters.end()};
  }
  bool at_end() const { return at_ == bytes_.size(); }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  static constexpr std::size_t padded(std::size_t n) { return (n + 7) / 8 * 8; }
  Message& put_bytes(const void* from, std::size_t n, std::true_type) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + padded(n));
    if (n > 0) std::memcpy(bytes_.data() + at, from, n);
    return *this;
  }
  const std::byte* next(std::size_t n) {
    if (padded(n) > bytes_.size() - at_) throw Malformed("a message ends early");
    const std::byte* const here = bytes_.data() + at_;
    at_ += padded(n);
    return here;
  }

  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

inline constexpr std::uint64_t longest_message = std::uint64_t{256} << 20;

/// Keeps freed memory in the process. Messages of some hundred kilobytes come and go thousands of times, and
/// getting their memory from the system again takes longer than all other work.
inline void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/// Returns false when the other end is closed.
inline bool send_bytes(int file, const void* from, std::size_t n) {
  const auto* at = static_cast<const std::byte*>(from);
  while (n > 0) {
    const ssize_t sent = write(file, at, n);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    n -= static_cast<std::size_t>(sent);
  }
  return true;
}
inline bool receive_bytes(int file, void* to, std::size_t n) {
  auto* at = static_cast<std::byte*>(to);
  while (n > 0) {
    const ssize_t got = read(file, at, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    n -= static_cast<std::size_t>(got);
  }
  return true;
}

/// A message on a pipe is its length and then its bytes. send() and receive() return false when the other end
/// is closed; receive() throws Malformed when the length is above longest_message.
inline bool send(int file, const Message& message) {
  const std::uint64_t length = message.bytes().size();
  return send_bytes(file, &length, sizeof length) && send_bytes(file, message.bytes().data(), length);
}
inline bool receive(int file, Message& message) {
  std::uint64_t length = 0;
  if (!receive_bytes(file, &length, sizeof length)) return false;
  if (length > longest_message) throw Malformed("a message is longer than it may be");
  std::vector<std::byte> bytes(length);
  if (!receive_bytes(file, bytes.data(), length)) return false;
  message = Message(std::move(bytes));
  return true;
}

}  // namespace tinymp::exercise
