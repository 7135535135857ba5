#include <fmt/format.h>
#include <lessons/lab/classroom/alarm.h>
#include <lessons/lab/classroom/class_report.h>
#include <lessons/lab/classroom/plain_name.h>
#include <lessons/lab/report/html.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <map>

// The page of a class. The cells of its tables hold HTML.
namespace tinymp::classroom {
namespace {

using report::escape_html;

std::string percent_text(double share) { return report::fixed(100 * share, 0) + " %"; }

using Rows = std::vector<std::vector<std::string>>;

/// The first row of `rows` is the head.
std::string table(const std::string& title, const Rows& rows, const std::string& note = "") {
  std::string text = "<section class=\"question\">\n<h2>" + escape_html(title) + "</h2>\n";
  if (!note.empty()) text += "<p>" + escape_html(note) + "</p>\n";
  return text + report::table_html({rows.front(), {}, Rows(rows.begin() + 1, rows.end())}) + "</section>\n";
}

/// The path as a URL: every byte except letters, digits and -._~/ is percent-encoded.
std::string address(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string link(const std::string& to, const std::string& text) {
  return fmt::format("<a href=\"{}\">{}</a>", escape_html(to), escape_html(text));
}

/// The tables of the page. `folder` is where the page will lie: links are relative to it.
class Page {
 public:
  Page(const std::vector<Grades>& all, std::filesystem::path folder)
      : all_(all), folder_(std::move(folder)) {}

  Rows students() const;
  Rows reasons() const;
  Rows exercises() const;
  Rows groups(const std::vector<Pair>& pairs) const;

 private:
  const std::vector<Grades>& all_;
  std::filesystem::path folder_;

  std::string file_link(const Grades& grades, const std::string& number, const std::string& text) const;
};

const std::string no_break_space = "\u00A0";

/// "7" of "7.1"
std::string chapter_of(const ExerciseGrade& grade) { return grade.number.substr(0, grade.number.find('.')); }

std::string anchor(const Grades& grades, const ExerciseGrade& grade) {
  return grade.number + "-" + grades.student;
}

/// The outcome and the first line of the message. When that line only announces a compiler's words, it ends
/// in a colon, and their first line stands in its place.
std::string why_not(const ExerciseGrade& grade) {
  const std::string& text = grade.message;
  const std::size_t line = text.find('\n');
  if (line == text.npos || !text.substr(0, line).ends_with(':')) return reason(grade);
  const std::size_t next = std::min(text.find_first_not_of(" \n", line), text.size());
  return grade.outcome + ": " + plain_line(text.substr(next, text.find('\n', next) - next));
}

/// The mark of an exercise. A ✗ shows its reason when the mouse points at it, and links to the details.
std::string mark(const Grades& grades, const ExerciseGrade& grade) {
  if (grade.passed()) return "✓";
  if (!grade.handed_in()) return "·";
  return fmt::format("<a href=\"#{}\" title=\"{}\">✗</a>", address(anchor(grades, grade)),
                     escape_html(reason(grade)));
}

/// `text`, as a link to the student's file when their folder is known.
std::string Page::file_link(const Grades& grades, const std::string& number, const std::string& text) const {
  for (const Exercise& exercise : classroom::exercises()) {
    if (exercise.number() != number || grades.folder.empty()) continue;
    std::error_code failed;
    const std::filesystem::path way =
        std::filesystem::relative(grades.folder / exercise.own_file(), folder_, failed);
    if (!failed) return link(address(way.string()), text);
  }
  return escape_html(text);
}

/// The table has one column a chapter: one column an exercise would not fit the page.
Rows Page::students() const {
  Rows rows{{"student", fmt::format("points of {}", all_.front().most())}};
  for (const ExerciseGrade& grade : all_.front().exercises) {
    const std::string chapter = chapter_of(grade);
    if (rows[0].back() != chapter) rows[0].push_back(chapter);
  }
  const std::size_t questions = all_.front().questions.size();
  for (const std::string& head : {fmt::format("answers of {}", questions), std::string("hints"),
                                  std::string("gave up"), std::string("reference")})
    rows[0].push_back(head);
  const bool due = all_.front().minutes_late.has_value();
  if (due) rows[0].emplace_back("late");
  for (const Grades& grades : all_) {
    std::vector<std::string> cells{escape_html(grades.student), std::to_string(grades.score())};
    std::string chapter;
    for (const ExerciseGrade& grade : grades.exercises) {
      if (chapter_of(grade) == chapter)
        cells.back() += no_break_space + mark(grades, grade);
      else
        cells.push_back(mark(grades, grade));
      chapter = chapter_of(grade);
    }
    const Sums sums = sums_of(grades);
    for (const int n : {sums.answers, sums.hints, sums.gave_up}) cells.push_back(std::to_string(n));
    cells.push_back(percent_text(sums.likeness));
    const int late = grades.minutes_late.value_or(0);
    if (due) cells.push_back(late == 0 ? "" : fmt::format("{} min", late));
    rows.push_back(cells);
  }
  return rows;
}

/// Lists every exercise that failed, with links to the file and to the full message.
Rows Page::reasons() const {
  Rows rows{{"student", "exercise", "why", "file", "message"}};
  for (const Grades& grades : all_)
    for (const ExerciseGrade& grade : grades.exercises) {
      if (!grade.failed()) continue;
      rows.push_back(
          {escape_html(grades.student),
           fmt::format("<span id=\"{}\">{}</span>", escape_html(anchor(grades, grade)), grade.number),
           escape_html(why_not(grade)), file_link(grades, grade.number, grade.id),
           link("students/" + address(grades.student) + ".json", "in full")});
    }
  return rows;
}

Rows Page::exercises() const {
  Rows rows{{"exercise", "", "passed", "handed in", "of students"}};
  for (std::size_t i = 0; i < all_.front().exercises.size(); ++i) {
    int passed = 0, written = 0;
    for (const Grades& grades : all_) {
      passed += grades.exercises[i].passed() ? 1 : 0;
      written += grades.exercises[i].handed_in() ? 1 : 0;
    }
    const ExerciseGrade& first = all_.front().exercises[i];
    rows.push_back({escape_html(first.number), escape_html(first.title), std::to_string(passed),
                    std::to_string(written), std::to_string(all_.size())});
  }
  return rows;
}

Rows Page::groups(const std::vector<Pair>& pairs) const {
  Rows rows{{"exercise", "students", "alike", "like the reference"}};
  for (const Group& group : groups_of(pairs)) {
    std::string names;
    for (const std::string& student : group.students) {
      const auto found = std::ranges::find(all_, student, &Grades::student);
      names += (names.empty() ? "" : ", ") +
               (found == all_.end() ? escape_html(student) : file_link(*found, group.exercise, student));
    }
    rows.push_back({escape_html(group.exercise), names,
                    percent_text(group.least) == percent_text(group.likeness)
                        ? percent_text(group.likeness)
                        : fmt::format("{:.0f} to {}", 100 * group.least, percent_text(group.likeness)),
                    percent_text(group.to_reference)});
  }
  return rows;
}

std::string alarm_section(const std::vector<Grades>& all) {
  std::string text;
  for (const std::string& alarm : alarms(all))
    text += "<p><strong>alarm:</strong> " + escape_html(alarm) + "</p>\n";
  return text.empty() ? "" : "<section class=\"question\">\n" + text + "</section>\n";
}

}  // namespace

std::string class_html(const std::vector<Grades>& all, const std::vector<Pair>& pairs,
                       std::vector<train::Run> runs, const std::filesystem::path& folder,
                       std::size_t handed_in) {
  const Page page(all, folder);
  std::string students = fmt::format("{} students", all.size());
  if (all.size() < handed_in)
    students = fmt::format("{} of {} students: the others have not been judged", all.size(), handed_in);
  std::string tables =
      alarm_section(all) +
      table(students, page.students(),
            "Under each chapter's number its exercises: ✓ passes, ✗ does not (point at it), · was "
            "not handed in. Reference: how much of its text is in the file that is most like it.");
  if (const Rows reasons = page.reasons(); reasons.size() > 1) tables += table("Why not", reasons);
  tables += table("Who passed what", page.exercises());
  if (!pairs.empty()) tables += table("Files that are alike: look at them", page.groups(pairs));
  const std::vector<report::ReportSection> sections = report::sections_by_question(std::move(runs));
  std::string text = report::html_report("The class", sections);
  const std::string main = "<main>\n";
  const std::size_t at = text.find(main);
  expect(at != std::string::npos, "the page of a report has no <main>");
  return text.insert(at + main.size(), tables);
}

}  // namespace tinymp::classroom
