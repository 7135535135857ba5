#include <tinymp/base/memory_account.h>
#include <tinymp/base/memory_words.h>

namespace tinymp {

std::string told_kinds(const std::array<std::int64_t, memory_kinds>& bytes) {
  std::string told;
  for (std::size_t i = 0; i < memory_kinds; ++i) {
    const auto kind = static_cast<MemoryKind>(i);
    if (kind != MemoryKind::scratch && bytes[i] > 0)
      told += concat(told.empty() ? "" : ", ", name_of(kind), " ", bytes[i]);
  }
  return told;
}

void MemoryAccount::refuse(MemoryKind kind, std::int64_t more) const {
  std::array<std::int64_t, memory_kinds> bytes{};
  for (std::size_t i = 0; i < memory_kinds; ++i) bytes[i] = now(static_cast<MemoryKind>(i));
  const std::string kinds = told_kinds(bytes);
  throw MemoryLimitError(concat("the limit of memory is ", limit_, " bytes, and ", shaped_.now.load(),
                                " bytes are taken", kinds.empty() ? "" : concat(" (", kinds, ")"), ": ", more,
                                " more for ", name_of(kind), " do not fit; ", how_to_take_less));
}

}  // namespace tinymp
