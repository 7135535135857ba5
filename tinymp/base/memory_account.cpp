#include <tinymp/base/memory_account.h>
#include <string>

namespace tinymp {

void MemoryAccount::refuse(MemoryKind kind, std::int64_t more) const {
  std::string taken;
  for (std::size_t i = 0; i + 1 < memory_kinds; ++i) {
    const auto each = static_cast<MemoryKind>(i);
    if (now(each) > 0) taken += concat(taken.empty() ? "" : ", ", name_of(each), " ", now(each));
  }
  throw MemoryLimitError(concat("the limit of memory is ", limit_, " bytes, and ", shaped_.now.load(),
                                " bytes are taken (", taken, "): ", more, " more for ", name_of(kind),
                                " do not fit"));
}

}  // namespace tinymp
