#pragma once

#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/train/checkpoint.h>
#include <tinymp/train/log_json.h>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

/// The texts in a checkpoint's metadata.
namespace tinymp::train {

/// Bytes that are not UTF-8 (in the name of a data set, say) become U+FFFD.
inline std::string metadata_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Throws Error when the file is none of this version; `foreign` says what to do with tensors of another program.
inline void expect_version(const Safetensors& contents, const std::string& path, const char* foreign) {
  const auto found = contents.metadata.find("tinymp.checkpoint");
  expect(found != contents.metadata.end(), path, ": tensors of another program, ", foreign);
  expect(found->second == std::to_string(checkpoint_version), path, ": a checkpoint of version ",
         excerpt(found->second), ", but this program reads version ", checkpoint_version,
         ": use the version of tinymp that wrote it");
}

/// A JSON object in the metadata, read key by key.
class MetadataReader {
 public:
  /// Throws Error naming `path` when the text is missing or no JSON object.
  MetadataReader(const Safetensors& contents, const std::string& key, std::string path)
      : path_(std::move(path)), key_(key) {
    const auto found = contents.metadata.find(key);
    if (found == contents.metadata.end()) fail("is missing");
    if (is_too_deep(found->second)) fail("is nested too deep");
    json_ = nlohmann::json::parse(found->second, nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object()) fail("is no JSON object");
  }

  const nlohmann::json& json() const { return json_; }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(concat(path_, ": no checkpoint of tinymp, or a damaged one: '", key_, "' ", what,
                       "; take another copy, or an earlier checkpoint"));
  }

  /// A whole number, 0 or above.
  std::int64_t count(const char* name) const {
    const nlohmann::json& value = at(name);
    if (!value.is_number_unsigned() || value.get<std::int64_t>() < 0)
      fail(concat("has a '", name, "' that is no count: ", excerpt(value.dump())));
    return value.get<std::int64_t>();
  }
  float number(const char* name) const {
    const std::optional<double> value = number_from(at(name));
    if (!value) fail(concat("has a '", name, "' that is no number: ", excerpt(at(name).dump())));
    return static_cast<float>(*value);
  }
  bool flag(const char* name) const {
    if (!at(name).is_boolean()) fail(concat("has a '", name, "' that is neither true nor false"));
    return at(name).get<bool>();
  }
  const nlohmann::json& at(const char* name) const {
    if (!json_.contains(name)) fail(concat("lacks '", name, "'"));
    return json_.at(name);
  }

 private:
  std::string path_, key_;
  nlohmann::json json_;
};

/// Everything that must agree between a run and the checkpoint that it goes on from, by name.
nlohmann::json plan_json(const CheckpointOwner& owner);
/// Throws Error naming the first difference.
void expect_same_plan(const MetadataReader& stored, const std::string& path, const CheckpointOwner& owner);

}  // namespace tinymp::train
