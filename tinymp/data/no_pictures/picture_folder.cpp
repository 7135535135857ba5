#include <tinymp/base/error.h>
#include <tinymp/data/picture_folder.h>

// In programs that read no pictures (quickstart, the lessons), in place of ../picture_folder.cpp and the
// decoders behind it.
namespace tinymp::data {
namespace {

[[noreturn]] void refuse(const std::string& name) {
  throw MissingError(concat(name, ": this program was built without pictures; ./learn train reads them"));
}

}  // namespace

Split load_picture_folder(const std::string& name) { refuse(name); }
ImageShape picture_folder_shape(const std::string& name) { refuse(name); }
std::int64_t count_pictures(const std::string& name) { refuse(name); }

}  // namespace tinymp::data
