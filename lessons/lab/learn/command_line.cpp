#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <kernels/cuda/executor.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/terminal.h>
#include <tinymp/base/float_environment.h>
#include <tinymp/data/picture_folder.h>
#include <tinymp/train/provenance.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <sstream>

namespace tinymp::lab {
namespace {

extern "C" void do_nothing(int) {}

constexpr int wrong_use = 2, missing = 3;
constexpr int names_width = 24;  ///< columns before the descriptions in --help
constexpr std::int64_t most_seeds = 1000, most_threads = 1024;

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return {};
  return value;
}

CLI::Validator number_that(const std::string& is, bool (*fits)(double)) {
  return {[is, fits](std::string& text) {
            const std::optional<double> value = number(text);
            return value && fits(*value) ? std::string()
                                         : concat("takes a finite number ", is, ", not '", text, "'");
          },
          ""};
}

/// CLI11's own sentence, or a better one with what was probably meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
  const std::vector<std::string> rest = app.remaining();
  if (rest.empty()) return error.what();
  const std::string typed = rest.front().substr(0, rest.front().find('='));
  if (typed.rfind('-', 0) != 0) return concat("'", typed, "' is one argument too many");
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& flag : option->get_lnames()) flags.push_back(flag);
  }
  const std::string meant = nearest(std::string_view(typed).substr(typed.find_first_not_of('-')), flags);
  return concat("there is no option '", typed, "'", meant.empty() ? "" : "; did you mean '--" + meant + "'?");
}

/// As a shell reads it back. Control characters are written as bash writes them, $'\x1b', or they would move
/// the cursor when the command is printed.
std::string quoted(std::string_view argument) {
  const auto controls = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
  const bool escapes = std::ranges::any_of(argument, controls);
  std::string text = escapes ? "$'" : "'";
  for (const char c : argument) {
    if (controls(c)) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else if (escapes) {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    } else {
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
  }
  return text + "'";
}

/// As it is where a shell reads it as one word, else quoted.
std::string as_word(std::string_view argument) {
  const auto harmless = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_=.,/:+@%").find(c) != std::string_view::npos;
  };
  return !argument.empty() && std::ranges::all_of(argument, harmless) ? std::string(argument)
                                                                      : quoted(argument);
}

/// Whether a line of --help is that of an option or an argument, with its description in the second column, or goes on
/// with one. Lines of a footer have columns of their own.
bool has_description(std::string_view line) {
  if (line.size() <= names_width || line[names_width - 1] != ' ') return false;
  const std::size_t first = line.find_first_not_of(' ');
  return first >= names_width || (first == 2 && (line[2] == '-' || (line[2] >= 'A' && line[2] <= 'Z')));
}

/// What CLI11 says, which breaks no lines: descriptions go on below themselves.
std::string fitted_help(const std::string& help) {
  const int width = report::terminal_width(STDOUT_FILENO);
  std::istringstream lines(help);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool has_columns = has_description(line) && width > 2 * names_width;
    if (report::display_width(line) <= width || !has_columns) {
      text += fitted(line, width) + "\n";
      continue;
    }
    std::string before = line.substr(0, names_width);
    for (const std::string& part : report::wrap(line.substr(names_width), width - names_width)) {
      text += before + part + "\n";
      before.assign(names_width, ' ');
    }
  }
  return text;
}

void tell(const std::string& message) {
  std::fprintf(stderr, "%s\n", fitted_for_errors(printable_lines("learn: " + message)).c_str());
}

/// A program may be started without them. The first file that it opens would get their numbers, and what it says.
void keep_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(file, F_GETFD) < 0) open("/dev/null", O_RDONLY);  // so that writing still fails
}

}  // namespace

CLI::Validator positive() {
  return number_that("above 0", [](double x) { return x > 0; });
}

CLI::Validator fraction() {
  return number_that("from 0 on and below 1", [](double x) { return x >= 0 && x < 1; });
}

CLI::Validator not_negative() {
  return number_that("that is 0 or above", [](double x) { return x >= 0; });
}

CLI::Validator whole(std::int64_t low, std::int64_t high) {
  return {[low, high](std::string& text) {
            std::int64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, failed] = std::from_chars(text.data(), end, value);
            const bool fits = failed == std::errc() && stop == end && value >= low && value <= high;
            return fits ? std::string()
                        : concat("takes a whole number from ", low, " to ", high, ", not '", text, "'");
          },
          ""};
}

void add_mine_flag(CLI::App& app) {
  app.add_flag(
      "--mine",
      [](std::int64_t) {
        if (train::pieces().empty())
          throw UsageError("--mine: this program was built without your pieces; ask ./learn");
      },
      "With the pieces of the library that you wrote, where they pass: ./learn check");
}

void add_output_flags(CLI::App& app, Options& options) {
  app.add_option("--out", options.out, "Where each run gets a new folder")
      ->type_name("DIR")
      ->check(CLI::Validator(
          [](std::string& text) {
            return text.empty() ? std::string("takes a folder, not ''") : std::string();
          },
          ""))
      ->capture_default_str();
  app.add_flag("--open", options.open, "Show the page in the browser");
  app.add_flag("--plain", options.plain, "ASCII only, no colour, no progress bar");
}

DataChoice data_of(const Lesson& lesson) {
  DataChoice choice;
  if (reads_text(lesson)) choice.names = {"cut"};
  for (const char* const name : lesson.data) {
    if (name == nullptr) continue;
    if (std::ranges::find(choice.names, name) == choice.names.end()) choice.names.emplace_back(name);
    choice.otherwise += choice.otherwise.empty() ? concat(name, " when it is here") : concat(", else ", name);
  }
  return choice;
}

void add_training_flags(CLI::App& app, Options& options, const DataChoice& data) {
  std::vector<std::string> choices = data.names;
  if (data.folders) choices.emplace_back("folder:PATH");
  std::string all;
  for (const std::string& name : choices) {
    all += all.empty() ? name : concat(&name == &choices.back() ? " or " : ", ", name);
  }
  const CLI::Validator is_name = CLI::IsMember(data.names);
  app.add_option("--data", options.data, concat(all, " (", data.otherwise, ")"))
      ->type_name("NAME")
      ->check(CLI::Validator(
          [is_name, takes_folders = data.folders](std::string& name) {
            if (takes_folders && data::names_folder(name)) return std::string();
            const std::string wrong = is_name(name);
            return wrong.empty() || !takes_folders ? wrong : wrong + ", and no folder:PATH";
          },
          ""));
  app.add_option("--threads", options.threads, "Changes the time, not the results (all cores)")
      ->type_name("N")
      ->check(whole(1, most_threads));
  app.add_flag("--live", options.live, "The loss grows as curves while models train");
  app.add_option("--device", options.device, "cpu or cuda")
      ->type_name("NAME")
      ->check(CLI::IsMember({"cpu", "cuda"}).description(""))
      ->capture_default_str();
}

void add_experiment_flags(CLI::App& app, Options& options) {
  app.add_option("--seeds", options.seeds, "Repeat everything from other first weights")
      ->type_name("K")
      ->check(whole(1, most_seeds))
      ->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "Seeds F, F + 1, ...")
      ->type_name("F")
      ->check(whole(0, std::numeric_limits<std::int64_t>::max() - most_seeds))
      ->capture_default_str();
  app.add_flag("--smoke", options.smoke, "A few steps only, to see that it works");
}

std::optional<int> parse(CLI::App& app, int argc, const char* const* argv) {
  app.get_formatter()->column_width(names_width);
  try {
    app.parse(argc, argv);
    return {};
  } catch (const CLI::Success&) {
    std::cout << fitted_help(app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    tell(concat(explain(app, error), " (see ", app.get_name(), " --help)"));
    return wrong_use;
  }
}

int guarded(const std::function<int()>& work) {
  // Past the limit of `ulimit -f` a write then fails, and is told as any other is, instead of ending the
  // program without a word. Programs started from here inherit what is ignored, but no handler.
  std::signal(SIGXFSZ, do_nothing);
  keep_standard_files();
  try {
    check_float_environment();
    const int code = work();
    std::cout.flush();
    if (std::cout.good() && std::fflush(stdout) == 0) return code;
    tell("cannot write the output: the disk is full, or the reader is gone");
    return code == 0 ? 1 : code;
  } catch (const UsageError& error) {
    tell(error.what());
    return wrong_use;
  } catch (const MissingError& error) {
    tell(error.what());
    return missing;
  } catch (const std::bad_alloc&) {
    tell("out of memory; a smaller --batch or model takes less");
  } catch (const std::exception& error) {
    tell(error.what());
  }
  return 1;
}

std::string nearest(std::string_view typed, std::span<const std::string> known) {
  std::string best;
  std::size_t fewest = std::min<std::size_t>(3, typed.size());  // one letter is near to everything
  for (const std::string& name : known) {
    // Edits between all beginnings of both (Wagner and Fischer 1974), one row of the table at a time.
    std::vector<std::size_t> row(typed.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= typed.size(); ++j) {
        const std::size_t replaced = diagonal + (name[i - 1] != typed[j - 1]);
        diagonal = row[j];
        row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      }
    }
    const std::size_t edits = !typed.empty() && name.rfind(typed, 0) == 0 ? 0 : row.back();
    if (edits >= fewest) continue;
    fewest = edits;
    best = name;
  }
  return best;
}

std::string lesson_number(std::string_view name) {
  std::string digits(name.substr(0, name.find('_')));
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return "";
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

std::string command_of(const Lesson& lesson) {
  const std::string number = lesson_number(lesson.name);
  return number.empty() ? concat("./learn ", lesson.name) : "./learn run " + number;
}

std::string typed(const std::string& command, int argc, const char* const* argv) {
  std::string text = command;
  if (kernels::emulation_wanted())
    text = concat("TINYMP_EMULATE=", as_word(std::getenv("TINYMP_EMULATE")), " ", command);
  for (const std::string_view argument : std::span(argv, static_cast<std::size_t>(argc)).subspan(1))
    text += concat(" ", as_word(argument));
  return text;
}

}  // namespace tinymp::lab
