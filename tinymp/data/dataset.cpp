#include <tinymp/base/error.h>
#include <tinymp/data/cifar.h>
#include <tinymp/data/dataset.h>
#include <tinymp/data/find_files.h>
#include <tinymp/data/idx.h>
#include <tinymp/data/picture_folder.h>
#include <tinymp/data/split.h>
#include <array>

namespace tinymp::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> idx_files = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                                  "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
constexpr std::array<const char*, 6> cifar_files = {"data_batch_1.bin", "data_batch_2.bin",
                                                    "data_batch_3.bin", "data_batch_4.bin",
                                                    "data_batch_5.bin", "test_batch.bin"};

constexpr std::array<Source, 4> sources = {{
    {"mnist", "mnist", nullptr, "fetch it with ./learn data mnist", idx_files},
    {"fashion", "fashion", "/usr/share/datasets/fashion-mnist", "fetch it with ./learn data fashion",
     idx_files},
    {"cut", "fashion-mnist-cut", nullptr,
     "it comes with tinymp: take datasets/fashion-mnist-cut from a fresh copy, or fetch a full set with "
     "./learn data mnist",
     idx_files},
    {"cifar10", "cifar10", nullptr, "fetch it with ./learn data cifar10", cifar_files},
}};

const Source& source_named(const std::string& name) {
  for (const Source& source : sources)
    if (name == source.name) return source;
  throw UsageError(
      concat("no data set is called \"", name, "\"; choose mnist, fashion, cut, cifar10 or folder:PATH"));
}

bool is_cifar(const Source& source) { return source.files.data() == cifar_files.data(); }

Dataset read_idx_files(const Source& source, const fs::path& folder, const char* images_file,
                       const char* labels_file) {
  constexpr ImageShape shape{};
  const std::string images_path = path_of(folder, images_file);
  const std::string mend = mend_for(source, folder);
  IdxPair pair = read_idx_pair(images_path, path_of(folder, labels_file), image_classes, mend);
  expect(pair.images.rows == shape.rows && pair.images.cols == shape.cols, images_path, ": images of ",
         pair.images.rows, " x ", pair.images.cols, ", expected ", shape.rows, " x ", shape.cols, "; ", mend);
  expect(pair.images.count > 0, images_path, ": no images in it; ", mend);
  return {source.folder, pair.images.count, std::move(pair.images.pixels), std::move(pair.labels), shape};
}

Dataset read_cifar_files(const Source& source, const fs::path& folder, std::span<const char* const> files) {
  Dataset all{source.folder, 0, {}, {}, cifar_shape};
  const auto records = cifar_records * static_cast<std::int64_t>(files.size());
  all.images.reserve(static_cast<std::size_t>(records * cifar_shape.size()));
  for (const char* file : files) {
    const CifarImages part = read_cifar(path_of(folder, file), cifar_records, mend_for(source, folder));
    all.images.insert(all.images.end(), part.pixels.begin(), part.pixels.end());
    all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
    all.count += cifar_records;
  }
  return all;
}

Dataset read_train(const Source& source, const fs::path& folder) {
  if (is_cifar(source)) return read_cifar_files(source, folder, std::span(cifar_files).first(5));
  return read_idx_files(source, folder, idx_files[0], idx_files[1]);
}

Dataset read_test(const Source& source, const fs::path& folder) {
  if (is_cifar(source)) return read_cifar_files(source, folder, std::span(cifar_files).last(1));
  return read_idx_files(source, folder, idx_files[2], idx_files[3]);
}

}  // namespace

Split load_images(const std::string& name) {
  if (names_folder(name)) return load_picture_folder(name);
  const Source& source = source_named(name);
  const fs::path folder = find_folder(source);
  const Dataset all = read_train(source, folder);
  return split_off_validation(all, read_test(source, folder));
}

ImageShape image_shape(const std::string& name) {
  if (names_folder(name)) return picture_folder_shape(name);
  return is_cifar(source_named(name)) ? cifar_shape : ImageShape{};
}

std::int64_t count_images(const std::string& name) {
  if (names_folder(name)) return count_pictures(name);
  const Source& source = source_named(name);
  const fs::path folder = find_folder(source);
  if (is_cifar(source)) return cifar_records * static_cast<std::int64_t>(cifar_files.size());
  const std::string mend = mend_for(source, folder);
  return count_idx_images(path_of(folder, idx_files[0]), mend) +
         count_idx_images(path_of(folder, idx_files[2]), mend);
}

std::string describe(const Split& split) {
  return concat(split.train.name, " (", split.train.count, " train, ", split.validation.count,
                " validation, ", split.test.count, " test)", split.remark.empty() ? "" : ": ", split.remark);
}

}  // namespace tinymp::data
