#include <fcntl.h>
#include <lessons/06_loss_scaling/autoencoder.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/interrupt.h>
#include <sys/wait.h>
#include <tests/catch.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace {

using namespace tinymp;
using namespace tinymp::lab;
namespace fs = std::filesystem;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr Lesson lesson{"06_loss_scaling", "Title", "Question"};

/// A folder that goes away.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("tinymp-lab-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  Options options() const { return {.out = path.string()}; }
};

/// What goes to standard output while it lives.
class Printed {
 public:
  Printed() : before_(std::cout.rdbuf(text_.rdbuf())) {}
  ~Printed() { std::cout.rdbuf(before_); }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  std::size_t count(const std::string& sentence) const {
    const std::string text = text_.str();
    std::size_t found = 0;
    for (std::size_t at = text.find(sentence); at != std::string::npos; at = text.find(sentence, at + 1))
      ++found;
    return found;
  }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

train::Run run_of(const std::string& name, std::uint64_t seed, double value) {
  train::Run run;
  run.header.question = "q";
  run.header.name = name;
  run.header.seed = seed;
  run.result = train::RunResult{.value = value};
  return run;
}

}  // namespace

TEST_CASE("mean, smallest, largest: NaN wins, nothing is NaN") {
  CHECK(mean({1, 2, 6}) == 3);
  CHECK(smallest({3, 1, 2}) == 1);
  CHECK(largest({3, 1, 2}) == 3);
  for (const auto& values : std::vector<std::vector<double>>{{}, {no_number, 1}, {1, no_number}}) {
    CHECK(std::isnan(mean(values)));
    CHECK(std::isnan(smallest(values)));
    CHECK(std::isnan(largest(values)));
  }
}

TEST_CASE("differences and ratios go seed by seed") {
  CHECK(differences({3, 5}, {1, 7}) == std::vector<double>{2, -2});
  CHECK(ratios({3, 5}, {2, 10}) == std::vector<double>{1.5, 0.5});
  REQUIRE_THROWS_AS(ratios({1, 2}, {1}), Error);
}

TEST_CASE("the largest gap has no sign, and NaN wins") {
  CHECK(largest_gap({3, 5}, {1, 8}) == 3);
  CHECK(largest_gap({3, 5}, {0, 5}) == 3);
  CHECK(std::isnan(largest_gap({3, 5}, {3, no_number})));
}

TEST_CASE("seeds are counted where they disagree") {
  CHECK(on_some_seeds({5, 4, 6}, 5, "5 or more") == " (5 or more on 2 of 3 seeds)");
  CHECK(on_some_seeds({no_number, 4}, 5, "5 or more") == " (5 or more on 1 of 2 seeds)");
  CHECK(on_some_seeds({5, 6}, 5, "5 or more").empty());
  CHECK(on_some_seeds({3, 4}, 5, "5 or more").empty());
}

// R: t.test(c(1, 2, 3, 4, 5)), t.test(c(-0.4, 1.1)), t.test(1:20)
TEST_CASE("an interval that contains the mean 95 times of 100") {
  const auto close = [](const Interval& found, double middle, double low, double high) {
    const auto near = [](double x, double y) { return std::abs(x - y) <= 2e-3 * std::abs(y); };
    return near(found.mean, middle) && near(found.low, low) && near(found.high, high);
  };
  CHECK(close(interval_of({1, 2, 3, 4, 5}), 3, 1.036757, 4.963243));
  CHECK(close(interval_of({-0.4, 1.1}), 0.35, -9.179654, 9.879654));
  std::vector<double> many;
  for (int i = 1; i <= 20; ++i) many.push_back(i);
  const Interval wide = interval_of(many);  // 2.262 for 2.093: not narrower than it should be
  CHECK(wide.low < 7.731189);
  CHECK(wide.high > 13.268811);
  CHECK(std::isnan(interval_of({1, no_number}).low));
  REQUIRE_THROWS_AS(interval_of({1}), Error);
}

// With x = sqrt(degrees) tan a, Student's density is proportional to cos^(degrees - 1) a: no tail is cut off.
TEST_CASE("an interval is as wide as Student's distribution wants, for two to ten values") {
  const auto area = [](double to, int power) {
    constexpr int slices = 20000;
    double sum = 0;
    for (int i = 0; i < slices; ++i) sum += std::pow(std::cos((i + 0.5) * to / slices), power);
    return sum * to / slices;
  };
  std::vector<double> values{1};
  for (int degrees = 1; degrees <= 9; ++degrees) {
    values.push_back(degrees + 1);
    const double error = std::sqrt((degrees + 2) / 12.0);  // of the mean of 1 .. n: variance n (n + 1) / 12
    const auto inside = [&](double t) {
      return area(std::atan(t / std::sqrt(degrees)), degrees - 1) / area(std::acos(0.0), degrees - 1);
    };
    const Interval found = interval_of(values);
    const double t = (found.high - found.mean) / error;
    INFO(degrees << " degrees of freedom, t = " << t);
    CHECK(inside(t - 0.00051) < 0.95);  // three digits after the point
    CHECK(inside(t + 0.00051) > 0.95);
  }
}

TEST_CASE("spread") {
  CHECK(spread({83.04}, 1) == "83.0");
  CHECK(spread({82.1, 84.2, 82.7}, 1) == "83.0 (82.1 .. 84.2)");
  CHECK(spread({1, no_number}, 1) == "NaN");
  CHECK(spread({}, 1) == "NaN");
  CHECK(fixed(83.04, 1) == "83.0");
  CHECK(fixed(no_number, 1) == "NaN");
}

TEST_CASE("a range whose ends are written alike is one number") {
  CHECK(range(-0.021, 0.008, 2) == "-0.02 to 0.01");
  CHECK(range(0.006, 0.014, 2) == "0.01");
  CHECK(range(19, 19, 0) == "19");
  CHECK(range(no_number, no_number, 2) == "NaN");
}

TEST_CASE("the nearest word") {
  const std::vector<std::string> known = {"quickstart", "run", "train", "compare"};
  CHECK(nearest("quikstart", known) == "quickstart");
  CHECK(nearest("comp", known) == "compare");
  CHECK(nearest("rnu", known) == "run");
  CHECK(nearest("tarin", known) == "train");
  CHECK(nearest("xyzzy", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest("x", known).empty());
}

TEST_CASE("the number of a lesson") {
  CHECK(lesson_number("06_loss_scaling") == "6");
  CHECK(lesson_number("06") == "6");
  CHECK(lesson_number("12") == "12");
  CHECK(lesson_number("00") == "0");
  for (const char* none : {"", "quickstart", "_6", "6x", "-6", "06x_y"}) CHECK(lesson_number(none).empty());
  CHECK(command_of(lesson) == "./learn run 6");
  CHECK(command_of({"quickstart", "", ""}) == "./learn quickstart");
}

TEST_CASE("a command line that a shell reads back") {
  const char* const arguments[] = {"learn", "--seeds", "3", "--out", "my runs", "--name", "it's", ""};
  CHECK(typed("./learn", 8, arguments) == R"(./learn --seeds 3 --out 'my runs' --name 'it'\''s' '')");
}

TEST_CASE("a command line repeats a run that was emulated") {
  const char* const arguments[] = {"learn", "--device", "cuda"};
  const char* const before = std::getenv("TINYMP_EMULATE");
  const std::string kept = before == nullptr ? "" : before;
  const std::pair<const char*, const char*> cases[] = {
      {"h200", "TINYMP_EMULATE=h200 ./learn train --device cuda"},
      {"1", "TINYMP_EMULATE=1 ./learn train --device cuda"},
      {"0", "./learn train --device cuda"},
      {"", "./learn train --device cuda"}};
  for (const auto& [set, expected] : cases) {
    setenv("TINYMP_EMULATE", set, 1);
    CHECK(typed("./learn train", 3, arguments) == expected);
  }
  setenv("TINYMP_EMULATE", kept.c_str(), 1);
}

TEST_CASE("a command line with control characters is printed without them, and bash reads them back") {
  const char* const arguments[] = {"learn", "--name", "a\x1b[2Jb", "it's\t\\"};
  CHECK(typed("./learn", 4, arguments) == R"(./learn --name $'a\x1b[2Jb' $'it\'s\x09\\')");
}

TEST_CASE("results come in the order of the seeds, and no result is NaN") {
  Lab lab(lesson, {});
  lab.add(run_of("a", 2, 20));
  lab.add(run_of("b", 0, 5));
  lab.add(run_of("a", 1, 10));
  train::Run interrupted = run_of("a", 3, 0);
  interrupted.result.reset();
  lab.add(interrupted);
  const std::vector<double> a = lab.results("q", "a");
  REQUIRE(a.size() == 3);
  CHECK(a[0] == 10);
  CHECK(a[1] == 20);
  CHECK(std::isnan(a[2]));
  CHECK(lab.results("q", "c").empty());
  CHECK(lab.results("another", "a").empty());
  CHECK(lab.runs("q", "b").at(0)->header.seed == 0);
}

TEST_CASE("a log for each run, and a folder with none in it goes away") {
  const Folder folder;
  {
    Lab lab(lesson, folder.options());
    CHECK(fs::is_empty(folder.path));
    const std::string first = lab.log_path("FP16, S = 1", 0);
    CHECK(first == (folder.path / "06_loss_scaling-001/fp16-s-1-seed0.jsonl").string());
    CHECK(lab.log_path("FP16, S = 1", 0) != first);
    CHECK(fs::path(lab.log_path("../../etc", 7)).filename() == "etc-seed7.jsonl");
    CHECK(fs::path(lab.log_path("\xc3\xa9", 7)).filename() == "run-seed7.jsonl");
  }
  CHECK(fs::is_empty(folder.path));
  {
    Lab lab(lesson, folder.options());
    std::ofstream(lab.log_path("x", 0)) << "a line\n";
  }
  CHECK(fs::exists(folder.path / "06_loss_scaling-001/x-seed0.jsonl"));
  Lab next(lesson, folder.options());
  CHECK(fs::path(next.log_path("x", 0)).parent_path().filename() == "06_loss_scaling-002");
}

TEST_CASE("a run says where it comes from: in its log and in the report") {
  const Folder folder;
  Options options = folder.options();
  options.data = "cut";
  options.smoke = true;
  options.command = "./learn run 6 --smoke";
  Lab lab(lesson, options);
  const Contender contender = small_gradients_contenders().at(3);
  train::Plan plan = autoencoder_plan(lab, contender, 0);
  plan.steps = 1;
  const train::Run run = lab.train(plan);
  CHECK(run.header.command == "./learn run 6 --smoke");
  CHECK(train::load_run(run.path).header.command == run.header.command);
  CHECK(Lab(lesson, {}).options().command == "./learn run 6");
}

TEST_CASE("an FP32 shadow runs seldom, and not beside FP32") {
  Lab lab(lesson, {.data = "cut"});
  for (const Contender& contender : small_gradients_contenders()) {
    const std::int64_t every = autoencoder_plan(lab, contender, 0).shadow_every;
    CHECK((contender.recipe == recipes::fp32 ? every == 0 : every >= 50));
  }
}

TEST_CASE("what is said at the end is said once") {
  for (const bool several : {false, true}) {
    const Printed printed;
    Lab lab(lesson, {.plain = true});
    lab.verdict("Does it?", "It does.");
    if (several) lab.verdict("And that?", "That does not.");
    lab.remark("Does it?", "You predicted 3; it is 4.");
    lab.finish();
    CHECK(printed.count("It does.") == 1);
    CHECK(printed.count("That does not.") == (several ? 1 : 0));
    CHECK(printed.count("You predicted 3; it is 4.") == 1);
    CHECK(printed.count("In short") == (several ? 1 : 0));
  }
}

TEST_CASE("after --smoke there is no verdict") {
  const Printed printed;
  Lab lab(lesson, {.smoke = true, .plain = true});
  lab.verdict("Does it?", "It does.");
  lab.verdict("And that?", "That does not.");
  lab.finish();
  CHECK(printed.count("It does.") == 0);
  CHECK(printed.count("--smoke: too few steps to tell.") == 2);
}

TEST_CASE("a broken claim fails --verify, and nothing else") {
  for (const bool holds : {true, false}) {
    for (const bool verify : {true, false}) {
      for (const bool smoke : {true, false}) {
        for (const Lab::Judged when : {Lab::Judged::in_full, Lab::Judged::in_smoke_too}) {
          Lab lab(lesson, {.smoke = smoke, .verify = verify, .plain = true});
          lab.claim(true, "one that holds");
          lab.claim(holds, "one", when);
          const bool judged = verify && (!smoke || when == Lab::Judged::in_smoke_too);
          CHECK(lab.finish() == (judged && !holds ? 1 : 0));
        }
      }
    }
  }
}

TEST_CASE("claims that chapters share are about every seed") {
  Folder folder;
  const auto lab_of = [&](std::vector<std::pair<double, std::int64_t>> ends, double last_loss) {
    Options options = folder.options();
    options.plain = true;  // "+" for a claim that holds, whatever the locale
    Lab lab(lesson, options);
    std::uint64_t seed = 0;
    for (const auto& [value, nan_step] : ends) {
      for (const char* name : {"a", "b"}) {
        train::Run run = run_of(name, seed, name == std::string("b") ? 90 : value);
        run.result->first_nonfinite_step = nan_step;
        run.steps = {{.step = 1, .loss = 2}, {.step = 2, .loss = last_loss, .flushed = 0.5}};
        lab.add(std::move(run));
      }
      ++seed;
    }
    return lab;
  };
  const auto holds = [&](Lab lab, const std::function<void(Lab&)>& claim) {
    claim(lab);
    Printed printed;
    static_cast<void>(lab.finish());
    return printed.count("+ ") == 1;
  };
  const auto is_nan = [](Lab& lab) { lab.claim_nan("q", "a", "it"); };
  CHECK(holds(lab_of({{no_number, 3}, {no_number, 5}}, 1), is_nan));
  CHECK_FALSE(holds(lab_of({{no_number, 3}, {91, 0}}, 1), is_nan));
  CHECK_FALSE(holds(lab_of({{no_number, 3}, {no_number, 0}}, 1), is_nan));
  const auto falls = [](Lab& lab) { lab.claim_falls("q", "a", "it"); };
  CHECK(holds(lab_of({{91, 0}}, 1), falls));
  CHECK_FALSE(holds(lab_of({{91, 0}}, 1.1), falls));
  CHECK_FALSE(holds(lab_of({{91, 0}}, no_number), falls));
  const auto same = [](Lab& lab) { lab.claim_same("q", "a", "b", "they end", 1); };
  CHECK(holds(lab_of({{91, 0}, {89, 0}}, 1), same));
  CHECK_FALSE(holds(lab_of({{91, 0}, {88, 0}}, 1), same));
  CHECK_FALSE(holds(lab_of({{no_number, 2}}, 1), same));
  const Lab lab = lab_of({{no_number, 3}, {no_number, 5}}, 1);
  CHECK(lab.logged("q", "a", &train::LogRecord::flushed) == std::vector{0.5, 0.5});
  CHECK(first_nan_steps(lab.runs("q", "a")) == "3 to 5");
}

TEST_CASE("a number that a chapter quotes has a name of its own") {
  Lab lab(lesson, {.plain = true});
  lab.number("ones add up to", 2048);
  lab.number("tenths add up to", 256);
  CHECK_THROWS_AS(lab.number("ones add up to", 2048), Error);
}

TEST_CASE("results.json holds what was measured, claimed and said") {
  const Folder folder;
  const fs::path path = folder.path / "results.json";
  Options options = folder.options();
  options.seeds = 2;
  options.verify = options.plain = true;
  options.data = "cut";
  options.results = path.string();
  Lab lab(lesson, options);
  lab.say("a line\n  another");
  lab.add(run_of("FP16", 1, no_number));
  lab.add(run_of("FP16", 0, 0.1));
  lab.verdict("q", "No.");
  lab.claim(true, "it holds");
  lab.number("a sum", 1.0 / 3);
  lab.finish();
  CHECK_FALSE(fs::exists(path.string() + ".part"));
  std::ifstream in(path);
  const auto json = nlohmann::ordered_json::parse(in);
  CHECK(json.at("lesson") == "06_loss_scaling");
  CHECK(json.at("verified") == true);
  CHECK(json.at("seeds") == nlohmann::ordered_json({0, 1}));
  CHECK(json.at("machine").at("command") == "./learn run 6");
  CHECK(json.at("said") == nlohmann::ordered_json({"a line", "  another"}));
  CHECK(json.at("numbers").at("a sum").get<double>() == 1.0 / 3);
  CHECK(json.at("claims").at(0) == nlohmann::ordered_json({{"holds", true}, {"sentence", "it holds"}}));
  const auto& question = json.at("questions").at(0);
  CHECK(question.at("verdict") == "No.");
  CHECK(question.at("curves").at(0).at("values").size() == 2);
  CHECK(question.at("curves").at(0).at("mean") == "nan");
  options.results = (folder.path / "missing/results.json").string();
  REQUIRE_THROWS_AS(Lab(lesson, options), Error);  // before anything is trained
}

TEST_CASE("a finding is printed as wide as the terminal, and on record in the lines that chapters quote") {
  const Folder folder;
  Options options = folder.options();
  options.plain = true;
  options.results = (folder.path / "results.json").string();
  const std::string word(10, 'x'), first = "  " + word + " " + word + " " + word, left = " " + word;
  std::string sentence = word;
  for (int i = 1; i < 12; ++i) sentence += left;
  const Printed printed;
  Lab lab(lesson, options);
  lab.say_finding(sentence);
  lab.finish();
  CHECK(printed.count(first + left + left + left + left + "\n" + first + left + left) == 1);  // 78 of 80
  std::ifstream in(options.results);
  const auto said = nlohmann::ordered_json::parse(in).at("said");
  CHECK(said == nlohmann::ordered_json(
                    {first + left + left + left + left + left, first + left}));  // 89 of 98, and the rest
}

TEST_CASE("a run whose technique was turned off has a name that says so") {
  const Lesson fragile{"06_loss_scaling", "Title", "Question", "unscale"};
  CHECK(Lab(fragile, {}).marked("FP16") == "FP16");
  Lab lab(fragile, {.sabotage = "unscale"});
  CHECK(lab.marked("FP16") == "FP16 (sabotaged: unscale)");
  lab.add(run_of(lab.marked("FP16"), 0, 1));
  CHECK(lab.results("q", "FP16") == std::vector<double>{1});
}

TEST_CASE("a mark of a learner's pieces goes where all curves have it, and stays where one has none") {
  const Folder folder;
  constexpr Lesson compare{"compare", "Title", "Question"};
  for (const bool mixed : {false, true}) {
    Options options = folder.options();
    options.plain = true;
    Lab lab(compare, options);
    train::Run mine = run_of("FP16 (YOURS: half)", 0, 1);
    mine.header.pieces = "half: YOURS | scaler: REFERENCE";
    lab.add(mine);
    lab.add(mixed ? run_of("FP16", 0, 3) : mine);
    CHECK(lab.finish() == 0);
    std::ifstream in(folder.path / (mixed ? "compare-002/report.html" : "compare-001/report.html"));
    const std::string page{std::istreambuf_iterator<char>(in), {}};
    CHECK((page.find("<p class=\"notice\">Pieces: half: YOURS") != std::string::npos) == !mixed);
    CHECK((page.find("FP16 (YOURS: half)") != std::string::npos) == mixed);
  }
}

TEST_CASE("seeds, steps, a device that is not there") {
  Lab lab(lesson, {.seeds = 3, .first_seed = 100});
  CHECK(lab.seeds() == std::vector<std::uint64_t>{100, 101, 102});
  CHECK(lab.steps(400, 6) == 400);
  CHECK(Lab(lesson, {.smoke = true}).steps(400, 6) == 6);
  REQUIRE_THROWS_AS(Lab(lesson, {.device = "tpu"}), UsageError);
}

TEST_CASE("a closed terminal is noted as Ctrl-C is, but not under nohup") {
  const auto before = std::signal(SIGHUP, SIG_DFL);
  {
    const InterruptNote note;
    std::raise(SIGHUP);
    CHECK(InterruptNote::seen());
    CHECK(InterruptNote::exit_code() == 129);
  }
  std::signal(SIGHUP, SIG_IGN);
  {
    const InterruptNote note;
    std::raise(SIGHUP);
    CHECK_FALSE(InterruptNote::seen());
  }
  CHECK(std::signal(SIGHUP, before) == SIG_IGN);
}

TEST_CASE("a program that was started without its standard files opens others in their place") {
  const pid_t child = fork();
  if (child == 0) {
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(file);
    int opened = -1;
    guarded([&] { return opened = open("/dev/null", O_RDONLY); });
    _exit(opened > STDERR_FILENO ? 0 : 9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("exceptions become exit codes") {
  CHECK(guarded([] { return 0; }) == 0);
  CHECK(guarded([] { return 7; }) == 7);
  CHECK(guarded([]() -> int { throw Error("failed"); }) == 1);
  CHECK(guarded([]() -> int { throw UsageError("wrong use"); }) == 2);
  CHECK(guarded([]() -> int { throw MissingError("missing"); }) == 3);
  CHECK(guarded([]() -> int { throw std::bad_alloc(); }) == 1);
  CHECK(guarded([]() -> int { throw std::runtime_error("other"); }) == 1);
}

TEST_CASE("a lesson reads the best of its data sets that is here, and --data takes no other") {
  const Lesson images{.name = "10_x", .title = "", .question = "", .data = {"cifar10", "fashion", "cut"}};
  const Lesson texts{.name = "11_x", .title = "", .question = "", .data = {"text", "course"}};
  CHECK(data_of(images).names == std::vector<std::string>{"mnist", "fashion", "cut", "cifar10"});
  CHECK(data_of(images).otherwise == "cifar10 when it is here, else fashion, else cut");
  CHECK(data_of(texts).names == std::vector<std::string>{"cut", "text", "course"});

  for (const char* const name : {"cut", "course"}) {
    Lab lab(texts, {.data = name});
    const data::Text& course = lab.text(100);
    CHECK(course.name == "course");
    CHECK(course.vocabulary.size() == 100);
    CHECK(course.train.size() > 20000);
  }
  CHECK(Lab(images, {.data = "cut"}).is_cut());
  Lab demanding(images, {.verify = true});
  CHECK(demanding.options().data == "cifar10");
}
