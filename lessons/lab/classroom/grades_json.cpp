#include <fmt/format.h>
#include <lessons/lab/classroom/grading.h>
#include <tinymp/train/provenance.h>
#include <nlohmann/json.hpp>

// Writes grades as JSON for other programs.
namespace tinymp::classroom {
namespace {

using Json = nlohmann::ordered_json;

/// The output of a submission may be no valid UTF-8: such bytes are replaced.
std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string grades_json(const Grades& grades) {
  Json exercises = Json::array();
  for (const ExerciseGrade& grade : grades.exercises)
    exercises.push_back({{"exercise", grade.number},
                         {"id", grade.id},
                         {"passed", grade.passed()},
                         {"outcome", grade.outcome},
                         {"message", grade.message},
                         {"attempts", grade.attempts},
                         {"hints", grade.hints},
                         {"gave_up", grade.gave_up},
                         {"sha256", grade.sha256},
                         {"likeness_to_reference", grade.likeness},
                         {"notable", grade.notable},
                         {"cases_seed", grade.cases ? Json(*grade.cases) : Json()},
                         {"seconds", grade.seconds}});
  Json questions = Json::array();
  for (const QuestionGrade& grade : grades.questions)
    questions.push_back({{"chapter", grade.chapter}, {"answer", grade.answer}, {"right", grade.right}});
  return text_of({{"tinymp_grades", 1},
                  {"student", grades.student},
                  {"date", grades.date},
                  {"sandbox", grades.sandbox},
                  {"score", grades.score()},
                  {"max_score", grades.most()},
                  {"exercises", exercises},
                  {"questions", questions}});
}

std::string gradescope_json(const Grades& grades) {
  Json tests = Json::array();
  for (const ExerciseGrade& grade : grades.exercises)
    tests.push_back(
        {{"name", fmt::format("{} {}", grade.number, grade.title)},
         {"number", grade.number},
         {"score", grade.passed() ? points_of_an_exercise : 0},
         {"max_score", points_of_an_exercise},
         {"status", grade.passed() ? "passed" : "failed"},
         {"output", fmt::format("{}{}{}", grade.outcome, grade.message.empty() ? "" : "\n", grade.message)},
         {"output_format", "text"},
         {"visibility", "visible"},
         {"extra_data",
          {{"attempts", grade.attempts},
           {"hints", grade.hints},
           {"gave_up", grade.gave_up},
           {"sha256", grade.sha256},
           {"likeness_to_reference", grade.likeness}}}});
  for (const QuestionGrade& grade : grades.questions)
    tests.push_back({{"name", fmt::format("Question {}", grade.chapter)},
                     {"number", fmt::format("Q{}", grade.chapter)},
                     {"score", grade.right ? points_of_a_question : 0},
                     {"max_score", points_of_a_question},
                     {"status", grade.right ? "passed" : "failed"},
                     {"output", word(grade)},
                     {"output_format", "text"},
                     {"visibility", "visible"}});
  return text_of({{"score", grades.score()},
                  {"output", fmt::format("{} of {} points; judged behind: {}", grades.score(), grades.most(),
                                         grades.sandbox)},
                  {"output_format", "text"},
                  {"visibility", "visible"},
                  {"stdout_visibility", "hidden"},
                  {"tests", tests}});
}

}  // namespace tinymp::classroom
