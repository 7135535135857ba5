#include <tinymp/base/error.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/dataset.h>
#include <tinymp/data/idx.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>

namespace tinymp::data {
namespace {

namespace fs = std::filesystem;

struct Source {
  const char* name;    // what the user says
  const char* folder;  // below each place that is searched
  const char* system;  // the full path of a system package's copy, or null
  const char* fetch;   // how to get it
};

constexpr std::array<Source, 3> sources = {{
    {"mnist", "mnist", nullptr, "fetch it with ./learn data mnist"},
    {"fashion", "fashion", "/usr/share/datasets/fashion-mnist", "fetch it with ./learn data fashion"},
    {"cut", "fashion-mnist-cut", nullptr,
     "it comes with tinymp: take datasets/fashion-mnist-cut from a fresh copy, or fetch a full set with "
     "./learn data mnist"},
}};

constexpr std::array<const char*, 4> file_names = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                                   "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

const Source& source_named(const std::string& name) {
  for (const Source& source : sources)
    if (name == source.name) return source;
  throw UsageError(concat("no data set is called \"", name, "\"; choose mnist, fashion or cut"));
}

/// Where `source` may lie, in the order in which it is looked for.
std::vector<fs::path> places(const Source& source) {
  std::vector<fs::path> found;
  const auto add_below = [&](const char* root) {
    if (root != nullptr && *root != '\0') found.push_back(fs::path(root) / source.folder);
  };
  add_below(std::getenv("TINYMP_DATA"));
#ifdef TINYMP_SOURCE_DIR
  add_below(TINYMP_SOURCE_DIR "/datasets");
#endif
  add_below(std::getenv("TINYMP_DATASETS"));
  if (source.system != nullptr) found.emplace_back(source.system);
  return found;
}

/// FILE or FILE.gz in `folder`; empty when neither is there.
std::string path_of(const fs::path& folder, const char* file) {
  for (const char* suffix : {"", ".gz"}) {
    const fs::path path = folder / (std::string(file) + suffix);
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
  }
  return {};
}

/// The first folder that holds all four files; MissingError says for each place what it lacks.
fs::path find_folder(const Source& source) {
  std::string looked;
  for (const fs::path& folder : places(source)) {
    std::string lacking;
    int there = 0;
    for (const char* file : file_names) {
      if (path_of(folder, file).empty())
        lacking += (lacking.empty() ? "" : ", ") + std::string(file);
      else
        ++there;
    }
    if (lacking.empty()) return folder;
    looked += "\n  " + folder.string() + (there > 0 ? " (lacks " + lacking + ")" : "");
  }
  if (looked.empty())
    looked = "\n  nowhere: set TINYMP_DATA to a folder that holds " + std::string(source.folder) + "/";
  throw MissingError(
      concat("the data set \"", source.name, "\" is not here; ", source.fetch, ". Looked in:", looked));
}

/// How to get a good copy in place of a damaged one.
std::string mend_for(const Source& source, const fs::path& folder) {
  if (source.system != nullptr && folder == fs::path(source.system))
    return "install dataset-fashion-mnist again, or ./learn data fashion";
  if (source.name == std::string("cut")) return "take datasets/fashion-mnist-cut from a fresh copy of tinymp";
  return concat("fetch it again with ./learn data ", source.name);
}

Dataset read(const Source& source, const fs::path& folder, const char* images_file, const char* labels_file) {
  const std::string images_path = path_of(folder, images_file);
  const std::string mend = mend_for(source, folder);
  IdxPair pair = read_idx_pair(images_path, path_of(folder, labels_file), image_classes, mend);
  expect(pair.images.rows == image_rows && pair.images.cols == image_cols, images_path, ": images of ",
         pair.images.rows, " x ", pair.images.cols, ", expected ", image_rows, " x ", image_cols, "; ", mend);
  expect(pair.images.count > 0, images_path, ": no images in it; ", mend);
  return {source.folder, pair.images.count, std::move(pair.images.pixels), std::move(pair.labels)};
}

Dataset pick(const Dataset& from, std::span<const std::int64_t> indices) {
  Dataset picked{from.name, static_cast<std::int64_t>(indices.size()), {}, {}};
  picked.images.reserve(indices.size() * image_pixels);
  picked.labels.reserve(indices.size());
  for (const std::int64_t i : indices) {
    const std::span<const std::uint8_t> image = from.image(i);
    picked.images.insert(picked.images.end(), image.begin(), image.end());
    picked.labels.push_back(from.labels[static_cast<std::size_t>(i)]);
  }
  return picked;
}

}  // namespace

Split load_images(const std::string& name) {
  const Source& source = source_named(name);
  const fs::path folder = find_folder(source);
  const Dataset all = read(source, folder, file_names[0], file_names[1]);
  Dataset test = read(source, folder, file_names[2], file_names[3]);

  std::vector<std::int64_t> order(static_cast<std::size_t>(all.count));
  std::iota(order.begin(), order.end(), 0);
  constexpr std::uint64_t split_seed = 0;  // a constant of the data, not of a run
  Rng(split_seed).shuffle(std::span(order));
  const std::span<std::int64_t> drawn(order);
  const auto validation = static_cast<std::size_t>(std::min<std::int64_t>(all.count / 10, 5000));
  std::ranges::sort(drawn.first(validation));
  std::ranges::sort(drawn.subspan(validation));
  return {pick(all, drawn.subspan(validation)), pick(all, drawn.first(validation)), std::move(test)};
}

std::int64_t count_images(const std::string& name) {
  const Source& source = source_named(name);
  const fs::path folder = find_folder(source);
  const std::string mend = mend_for(source, folder);
  return count_idx_images(path_of(folder, file_names[0]), mend) +
         count_idx_images(path_of(folder, file_names[2]), mend);
}

std::string describe(const Split& split) {
  return concat(split.train.name, " (", split.train.count, " train, ", split.validation.count,
                " validation, ", split.test.count, " test)");
}

}  // namespace tinymp::data
