#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lab.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <tests/catch.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <filesystem>
#include <fstream>

// The table of contents, and the chapters that it is of.
namespace tinymp::test {
namespace {

TEST_CASE("course: a lesson for each chapter, by number, with the chapter's title") {
  std::vector<std::string> chapters, lessons;
  for (const auto& entry : std::filesystem::directory_iterator(lab::chapters_folder())) {
    const std::string name = entry.path().filename().string();
    if (!lab::lesson_number(name).empty()) chapters.push_back(name);
  }
  std::ranges::sort(chapters);
  for (const lab::Lesson& lesson : lab::course()) {
    lessons.emplace_back(lesson.name);
    std::ifstream chapter(lab::chapters_folder() / lesson.name / "README.md");
    std::string title;
    std::getline(chapter, title);
    CHECK(title == concat("# Lesson ", lessons.back().substr(0, 2), " - ", lesson.title));
    CHECK(*lesson.question != '\0');
  }
  CHECK(lessons == chapters);
}

TEST_CASE("course: a lesson is found by its number or name") {
  CHECK(std::string(lab::lesson_of("6").name) == "06_loss_scaling");
  CHECK(std::string(lab::lesson_of("06").name) == "06_loss_scaling");
  CHECK(std::string(lab::lesson_of("06_loss_scaling").sabotage) == "unscale");
  CHECK(lab::sabotages_of(lab::lesson_of("06")) == std::vector<std::string>{"unscale"});
  CHECK(lab::sabotages_of(lab::lesson_of("0")).empty());
  CHECK(lab::sabotages_of(lab::lesson_of("14")) ==
        std::vector<std::string>{"mask", "mean", "again", "divide", "softmax", "fp16"});
  CHECK_THROWS_AS(lab::lesson_of("77"), Error);
  CHECK_THROWS_AS(lab::lesson_of("six"), Error);
}

}  // namespace
}  // namespace tinymp::test
