#pragma once

#include <tinymp/base/memory_account.h>
#include <array>
#include <string>

namespace tinymp {

/// What a message says of the bytes of each kind: "weights 203560, optimizer 407120"; without those of 0 and scratch.
std::string told_kinds(const std::array<std::int64_t, memory_kinds>& bytes);

/// How to take less, for the end of a message.
inline constexpr const char* how_to_take_less =
    "a smaller --batch, --recompute or narrower formats take less, and ./learn memory shows what takes them";

}  // namespace tinymp
