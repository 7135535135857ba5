#include <fmt/format.h>
#include <lessons/classroom/class_report.h>
#include <lessons/classroom/exercise.h>
#include <lessons/classroom/files.h>
#include <lessons/classroom/similarity.h>
#include <tinymp/base/error.h>
#include <tinymp/report/html.h>
#include <tinymp/report/html_text.h>
#include <algorithm>
#include <map>

namespace tinymp::classroom {
namespace {

using report::escape_html;

/// A cell of a CSV file. Spreadsheets take what begins with one of =+-@ for a formula: not what a student
/// may write into a teacher's.
std::string cell(std::string text) {
  if (!text.empty() && std::string("=+-@\t\r").find(text[0]) != std::string::npos) text = "'" + text;
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string row(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& one : cells) text += (text.empty() ? "" : ",") + cell(one);
  return text + "\n";
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

struct Sums {
  int hints = 0, gave_up = 0, answers = 0;
  double likeness = 0;  ///< the largest, of what passed
};

Sums sums_of(const Grades& grades) {
  Sums sums;
  for (const ExerciseGrade& grade : grades.exercises) {
    sums.hints += grade.hints;
    sums.gave_up += grade.gave_up ? 1 : 0;
    if (grade.passed()) sums.likeness = std::max(sums.likeness, grade.likeness);
  }
  sums.answers = static_cast<int>(std::ranges::count_if(grades.questions, &QuestionGrade::right));
  return sums;
}

using Rows = std::vector<std::vector<std::string>>;

/// The first row is the head; the first cell of the others names what they are about.
std::string table(const std::string& title, const Rows& rows, const std::string& note = "") {
  std::string text = "<section class=\"question\">\n<h2>" + escape_html(title) + "</h2>\n";
  if (!note.empty()) text += "<p>" + escape_html(note) + "</p>\n";
  text += "<div class=\"table card\"><table>\n<thead><tr>";
  for (const std::string& head : rows.front()) text += "<th>" + escape_html(head) + "</th>";
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 1; i < rows.size(); ++i) {
    text += "<tr>";
    for (std::size_t k = 0; k < rows[i].size(); ++k) {
      const char* const tag = k == 0 ? "th" : "td";
      text += fmt::format("<{0}>{1}</{0}>", tag, escape_html(rows[i][k]));
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table></div>\n</section>\n";
}

const std::string no_break_space = "\u00A0";

/// "7" of "7.1"
std::string chapter_of(const ExerciseGrade& grade) { return grade.number.substr(0, grade.number.find('.')); }

std::string mark(const ExerciseGrade& grade) {
  return grade.passed() ? "✓" : grade.outcome == "missing" || grade.outcome == "unwritten" ? "·" : "✗";
}

/// A column a chapter: one for each exercise would not fit the page.
Rows student_rows(const std::vector<Grades>& all) {
  Rows rows{{"student", fmt::format("points of {}", all.front().most())}};
  for (const ExerciseGrade& grade : all.front().exercises) {
    const std::string chapter = chapter_of(grade);
    if (rows[0].back() != chapter) rows[0].push_back(chapter);
  }
  const std::size_t questions = all.front().questions.size();
  for (const std::string& head : {fmt::format("answers of {}", questions), std::string("hints"),
                                  std::string("gave up"), std::string("reference")})
    rows[0].push_back(head);
  for (const Grades& grades : all) {
    std::vector<std::string> cells{grades.student, std::to_string(grades.score())};
    std::string chapter;
    for (const ExerciseGrade& grade : grades.exercises) {
      if (chapter_of(grade) == chapter)
        cells.back() += no_break_space + mark(grade);
      else
        cells.push_back(mark(grade));
      chapter = chapter_of(grade);
    }
    const Sums sums = sums_of(grades);
    for (const int n : {sums.answers, sums.hints, sums.gave_up}) cells.push_back(std::to_string(n));
    cells.push_back(percent(sums.likeness));
    rows.push_back(cells);
  }
  return rows;
}

Rows exercise_rows(const std::vector<Grades>& all) {
  Rows rows{{"exercise", "", "passed", "handed in", "of students"}};
  for (std::size_t i = 0; i < all.front().exercises.size(); ++i) {
    int passed = 0, written = 0;
    for (const Grades& grades : all) {
      passed += grades.exercises[i].passed() ? 1 : 0;
      written +=
          grades.exercises[i].outcome != "missing" && grades.exercises[i].outcome != "unwritten" ? 1 : 0;
    }
    const ExerciseGrade& first = all.front().exercises[i];
    rows.push_back({first.number, first.title, std::to_string(passed), std::to_string(written),
                    std::to_string(all.size())});
  }
  return rows;
}

/// Of each student, each exercise.
std::vector<std::vector<Shingles>> shingles_of_all(const std::vector<Grades>& all) {
  std::map<std::string, std::string> stubs;
  for (const Exercise& exercise : exercises()) stubs[exercise.number()] = read_file(exercise.stub());
  std::vector<std::vector<Shingles>> shingles;
  for (const Grades& grades : all) {
    std::vector<Shingles>& of_student = shingles.emplace_back();
    for (const ExerciseGrade& grade : grades.exercises)
      of_student.push_back(shingles_of(grade.text, stubs[grade.number]));
  }
  return shingles;
}

}  // namespace

std::vector<Pair> alike(const std::vector<Grades>& all, double least) {
  const std::vector<std::vector<Shingles>> shingles = shingles_of_all(all);
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b)
      for (std::size_t i = 0; i < all[a].exercises.size(); ++i) {
        const ExerciseGrade &one = all[a].exercises[i], &other = all[b].exercises[i];
        const double both = likeness(shingles[a][i], shingles[b][i]);
        if (both >= least)
          pairs.push_back(
              {one.number, all[a].student, all[b].student, both, std::max(one.likeness, other.likeness)});
      }
  std::ranges::stable_sort(pairs, std::greater(), &Pair::likeness);
  return pairs;
}

std::string class_csv(const std::vector<Grades>& all) {
  std::vector<std::string> head{"student", "score", "max_score"};
  for (const ExerciseGrade& grade : all.front().exercises) head.push_back(grade.number + " " + grade.id);
  for (const char* const name :
       {"questions_right", "hints", "gave_up", "largest_likeness_to_reference", "notable_words", "sandbox"})
    head.emplace_back(name);
  std::string text = row(head);
  for (const Grades& grades : all) {
    std::vector<std::string> cells{grades.student, std::to_string(grades.score()),
                                   std::to_string(grades.most())};
    std::string notable;
    for (const ExerciseGrade& grade : grades.exercises) {
      cells.push_back(grade.outcome);
      for (const std::string& name : grade.notable)
        notable += fmt::format("{}{}: {}", notable.empty() ? "" : " ", grade.number, name);
    }
    const Sums sums = sums_of(grades);
    for (const int n : {sums.answers, sums.hints, sums.gave_up}) cells.push_back(std::to_string(n));
    cells.push_back(fmt::format("{:.3f}", sums.likeness));
    cells.push_back(notable);
    cells.push_back(grades.sandbox);
    text += row(cells);
  }
  return text;
}

std::string pairs_csv(const std::vector<Pair>& pairs) {
  std::string text = row({"exercise", "student", "and", "likeness", "largest_likeness_to_reference"});
  for (const Pair& pair : pairs)
    text += row({pair.exercise, pair.one, pair.other, fmt::format("{:.3f}", pair.likeness),
                 fmt::format("{:.3f}", pair.to_reference)});
  return text;
}

std::string class_html(const std::vector<Grades>& all, const std::vector<Pair>& pairs,
                       std::vector<train::Run> runs) {
  std::string tables = table(fmt::format("{} students", all.size()), student_rows(all),
                             "Under each chapter's number its exercises: ✓ passes, ✗ does not, · was not "
                             "handed in. Why not: class.csv, and students/ in full. Reference: how much of "
                             "its text is in the file that is most like it.") +
                       table("Who passed what", exercise_rows(all));
  Rows rows{{"exercise", "one", "other", "alike", "like the reference"}};
  for (const Pair& pair : pairs)
    rows.push_back({pair.exercise, pair.one, pair.other, percent(pair.likeness), percent(pair.to_reference)});
  if (!pairs.empty()) tables += table("Files that are alike: look at them", rows);
  const std::vector<report::ReportSection> sections = report::sections_by_question(std::move(runs));
  std::string page = report::html_report("The class", sections);
  const std::string main = "<main>\n";
  const std::size_t at = page.find(main);
  expect(at != std::string::npos, "the page of a report has no <main>");
  return page.insert(at + main.size(), tables);
}

}  // namespace tinymp::classroom
