#include <lessons/lab/learn/lab.h>
#include <lessons/lab/learn/lab_state.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

// Which data a lesson trains on: what --data names, or the best that is here.
namespace tinymp::lab {
namespace {

data::Split first_here(const Lesson& lesson) {
  for (std::size_t i = 0; i + 1 < lesson.data.size() && lesson.data[i + 1] != nullptr; ++i) {
    try {
      return data::load_images(lesson.data[i]);
    } catch (const MissingError&) {
    }
  }
  return data::load_images(*std::find_if(lesson.data.rbegin(), lesson.data.rend(),
                                         [](const char* name) { return name != nullptr; }));
}

/// The chapters one after the other: a text that is always there.
data::Text course(std::int64_t vocabulary, data::TextUnit unit) {
  namespace fs = std::filesystem;
  std::vector<fs::path> chapters;
  for (const fs::directory_entry& entry : fs::directory_iterator(TINYMP_SOURCE_DIR "/lessons")) {
    if (fs::exists(entry.path() / "README.md")) chapters.push_back(entry.path() / "README.md");
  }
  std::ranges::sort(chapters);
  std::string text;
  for (const fs::path& chapter : chapters) {
    std::ifstream file(chapter, std::ios::binary);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return data::text_from(std::string(course_name), text, vocabulary, unit);
}

}  // namespace

data::Text chosen_text(const std::string& name, std::int64_t vocabulary, data::TextUnit unit) {
  if (name == "text") return data::load_text(vocabulary, unit);
  if (!name.empty()) return course(vocabulary, unit);
  try {
    return data::load_text(vocabulary, unit);
  } catch (const MissingError&) {
    return course(vocabulary, unit);
  }
}

const data::Split& Lab::data() {
  if (!impl_->data) {
    impl_->data = options_.data.empty() ? first_here(impl_->lesson) : data::load_images(options_.data);
    impl_->data_is = data::describe(*impl_->data);
    impl_->data_name = impl_->data->train.name;
  }
  return *impl_->data;
}

const data::Text& Lab::text(std::int64_t vocabulary, data::TextUnit unit) {
  if (!impl_->text) {
    impl_->text = chosen_text(options_.data, vocabulary, unit);
    impl_->data_is = data::describe(*impl_->text);
    impl_->data_name = impl_->text->name;
    say_data();
  }
  return *impl_->text;
}

bool Lab::is_cut() { return data().train.name == cut_name; }

bool Lab::Impl::comes_along() const { return data_name == cut_name || data_name == course_name; }

void Lab::say_data() {
  const std::string best = impl_->lesson.data[0];
  say("Data: " + impl_->data_is);
  if (options_.data.empty() && impl_->data_name != best && (reads_text(impl_->lesson) || !impl_->text)) {
    say(concat("The chapter's figures are of ", best, ", which is not here: ./learn data ", best,
               " fetches it."));
  }
}

}  // namespace tinymp::lab
