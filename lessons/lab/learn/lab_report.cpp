#include <lessons/lab/learn/browser.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lab.h>
#include <lessons/lab/learn/lab_state.h>
#include <lessons/lab/learn/results.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/html.h>
#include <lessons/lab/report/number.h>
#include <tinymp/train/provenance.h>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>

// What becomes of the results: sentences, claims, the terminal, the page.
namespace tinymp::lab {
namespace {

std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path full = std::filesystem::absolute(path, failed);
  return failed ? path : full.lexically_normal().string();
}

/// "  " before the first line, as many columns before the others.
void print_item(const std::string& mark, const std::string& text, const report::TerminalStyle& style) {
  const int indent = report::display_width(mark) + 1;
  std::string before = mark + " ";
  for (const std::string& line :
       report::wrap(report::printable(text, style.unicode), std::max(20, style.width - indent))) {
    std::cout << before << line << "\n";
    before = std::string(static_cast<std::size_t>(indent), ' ');
  }
}

/// Where several questions were asked, their answers stand together at the end, for the first section has
/// left the screen by then, and the sections print none: nothing is said twice in a row.
std::vector<std::string> answers_of(const std::vector<report::ReportSection>& sections) {
  std::vector<std::string> answers;
  const auto answered = [](const report::ReportSection& section) { return !section.verdict.empty(); };
  if (std::ranges::count_if(sections, answered) < 2) return answers;
  for (const report::ReportSection& section : sections) {
    if (!answered(section)) continue;
    const bool asks = section.question.ends_with('?');
    answers.push_back(section.question + (asks ? " " : ": ") + section.verdict);
  }
  return answers;
}

}  // namespace

void Lab::verdict(const std::string& question, const std::string& sentence) {
  impl_->verdicts.emplace_back(question, options_.smoke ? "--smoke: too few steps to tell." : sentence);
  if (!options_.smoke) impl_->waiting.push_back(sentence);
}

/// finish() prints all verdicts. One that is followed by more training is printed before that, too.
void Lab::Impl::print_waiting() {
  for (const std::string& sentence : waiting) print_item(style.unicode ? "→" : "->", sentence, style);
  waiting.clear();
  std::cout.flush();
}

void Lab::say_answer() { impl_->print_waiting(); }

void Lab::remark(const std::string& question, const std::string& sentence) {
  impl_->verdicts.emplace_back(question, sentence);
  impl_->waiting.push_back(sentence);
}

void Lab::claim(bool holds, const std::string& sentence, Judged when) {
  impl_->claims.push_back({holds, sentence, when});
}

void Lab::number(const std::string& name, double value) {
  const bool is_new = std::ranges::none_of(impl_->numbers, [&](const auto& n) { return n.first == name; });
  expect(is_new, "Lab::number: there is a number '", name, "' already");
  impl_->numbers.emplace_back(name, value);
}

void Lab::say(const std::string& text) {
  std::istringstream lines(text + "\n");
  for (std::string line; std::getline(lines, line);) {
    impl_->printed.push_back(line);
    impl_->print(line);
  }
}

void Lab::say_finding(const std::string& sentence) {
  for (const std::string& line : report::wrap(sentence, 96)) impl_->printed.push_back("  " + line);
  impl_->print("  " + sentence);
}

void Lab::Impl::print(const std::string& line) const {
  std::cout << fitted(report::printable(line, style.unicode), style.width) << "\n" << std::flush;
}

std::string Lab::Impl::pieces_of_all() const {
  const std::string first = runs.empty() ? train::pieces() : runs.front().header.pieces;
  const bool alike =
      std::ranges::all_of(runs, [&](const train::Run& run) { return run.header.pieces == first; });
  return alike ? first : "";
}

std::vector<report::ReportSection> Lab::Impl::take_sections() {
  std::vector<train::Run> shown(std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()));
  runs.clear();
  if (!pieces.empty())
    for (train::Run& run : shown) run.header.name = report::without_pieces(run.header.name);
  std::vector<report::ReportSection> sections = report::sections_by_question(std::move(shown));
  for (const auto& verdict : verdicts) {
    auto section = std::ranges::find(sections, verdict.first, &report::ReportSection::question);
    if (section == sections.end()) section = sections.insert(section, {verdict.first, "", {}});
    section->verdict += (section->verdict.empty() ? "" : " ") + verdict.second;
  }
  for (report::ReportSection& section : sections) section.view = view;
  return sections;
}

void Lab::Impl::print_claims(const Options& options) const {
  if (claims.empty()) return;
  std::cout << report::bold(comes_along() ? concat("What to expect of the data that comes with tinymp (the "
                                                   "chapter is about ",
                                                   lesson.data[0], ")")
                                          : "What the chapter promises",
                            style)
            << "\n\n";
  for (const Claim& claim : claims) {
    const std::string yes = style.unicode ? "✓" : "+", no = style.unicode ? "✗" : "x";
    print_item("  " + (is_judged(claim, options) ? (claim.holds ? yes : no) : "?"), claim.sentence, style);
  }
  const auto judged = [&](const Claim& claim) { return is_judged(claim, options); };
  if (!std::ranges::all_of(claims, judged)) std::cout << "\n? is not judged: --smoke takes too few steps.\n";
  std::cout << "\n";
}

bool Lab::Impl::write_page(const Options& options, const std::vector<report::ReportSection>& sections) {
  std::string page;
  try {
    make_folder();
    page = folder + "/report.html";
    const std::string mark = options.sabotage.empty() ? "" : concat("SABOTAGED (", options.sabotage, "): ");
    report::HtmlOptions html;
    if (!pieces.empty()) html.note = concat("Pieces: ", pieces);
    report::write_report(page, concat(mark, lesson.title), sections, html);
  } catch (const Error& error) {
    std::cout.flush();
    std::cerr << fitted_for_errors(concat("learn: ", error.what())) << "\n";
    if (!paths.empty()) {
      std::cerr << fitted_for_errors(concat("The runs are safe in ", folder, "; ./learn compare ", folder,
                                            " --out DIR makes the page again."))
                << "\n";
    }
    return false;
  }
  std::cout << "Page:   " << absolute(page) << "\n";
  if (!paths.empty()) std::cout << "Runs:   " << folder << "\n";
  if (!pieces.empty()) print_item("Pieces:", pieces, style);
  std::cout << "Again:  " << options.command << "\n";
  if (options.open) open_in_browser(absolute(page));
  return true;
}

void Lab::Impl::print_answers(const std::vector<std::string>& answers) const {
  if (answers.empty()) return;
  std::cout << report::bold("In short", style) << "\n\n";
  for (const std::string& answer : answers) print_item(style.unicode ? "●" : "*", answer, style);
  std::cout << "\n";
}

int Lab::finish() {
  const bool has_runs = !impl_->runs.empty();
  impl_->pieces = impl_->pieces_of_all();
  const std::vector<report::ReportSection> sections = impl_->take_sections();
  const std::vector<std::string> answers = options_.smoke ? std::vector<std::string>{} : answers_of(sections);
  for (const report::ReportSection& section : sections) {
    std::cout << "\n";
    report::print_section(std::cout, section, impl_->style, answers.empty());
  }
  if (!sections.empty() || !impl_->claims.empty()) std::cout << "\n";
  impl_->print_answers(answers);
  impl_->print_claims(options_);
  const bool written = !has_runs || impl_->write_page(options_, sections);
  if (!options_.results.empty()) write_results(options_.results, impl_->results(options_, sections));
  const auto& claims = impl_->claims;
  const auto broken = std::ranges::count_if(
      claims, [&](const Impl::Claim& c) { return !c.holds && Impl::is_judged(c, options_); });
  if (options_.verify && broken > 0) {
    std::cout.flush();
    std::cerr << concat("learn: ", broken, " of ", claims.size(), " claims did not hold in this run\n");
    return 1;
  }
  return written ? 0 : 1;
}

}  // namespace tinymp::lab
