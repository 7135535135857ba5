#include <lessons/lab/report/write_file.h>
#include <tinymp/base/error.h>
#include <tinymp/train/atomic_file.h>

namespace tinymp::report {

void write_whole(const std::string& path, std::string_view text, const std::string& what,
                 const std::string& elsewhere) {
  try {
    train::write_atomically(what, path, text);
  } catch (const Error& error) {
    std::string message = error.what();
    constexpr std::string_view usual = "--out DIR";
    if (message.ends_with(usual)) message.replace(message.size() - usual.size(), usual.size(), elsewhere);
    throw Error(message);
  }
}

}  // namespace tinymp::report
