#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/verdict.h>
#include <tests/catch.h>

#include <cstdio>
#include <filesystem>

// Texts that want a verdict without the work. The filters that refuse many of them before they are compiled
// are switched off here: judge() is asked at once, so what is tried is the judging.
namespace tinymp::test {
namespace {

using namespace classroom;
using Outcome = Verdict::Outcome;

/// As the answer to 1.2, with what stands before it in no namespace.
std::string answer(const std::string& before, const std::string& body = "return 0;") {
  return "}\n#include <unistd.h>\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include "
         "<cstring>\n" +
         before +
         "\nnamespace tinymp {\ninline float float_from_half_bits([[maybe_unused]] std::uint16_t bits) { " +
         body + " }\n";
}

std::string before_main(const std::string& body) {
  return answer("[[gnu::constructor(101)]] inline void forge() { " + body + " }");
}

/// A reply to the first request, of fourteen halves: its length, "answered", and a list of so many bytes.
std::string reply(const std::string& list) {
  return "std::uint64_t ask[64]; ssize_t n = read(0, ask, sizeof ask); (void)n;\n" + list;
}

Verdict judged(const std::string& text) {
  static const ScratchFolder scratch("forgery");
  return judge(exercises_named("half_to_float").front(), text, "answer.h", scratch.path(), {.run = 20});
}

}  // namespace

TEST_CASE("forgery: what the submission's process says of itself is no verdict") {
  const std::string texts[] = {
      // every word that a judge could say, on every file
      before_main("for (int f = 0; f < 20; ++f) { dprintf(f, \"passed\\n65550\"); } _exit(0);"),
      before_main("const char v[] = \"passed\\n65550\\n\"; for (int f = 1; f < 64; ++f) if (write(f, v, "
                  "sizeof v) < 0) continue; "
                  "_exit(0);"),
      answer("", "std::printf(\"passed\\n65550\\n\"); std::fflush(stdout); std::quick_exit(0);"),
      // replies that are none
      before_main(reply("const std::uint64_t r[] = {~0ull}; if (write(3, r, 8) > 0) _exit(0);")),
      before_main(reply("const std::uint64_t r[] = {16, 0, 1ull << 61}; if (write(3, r, 24) > 0) _exit(0);")),
      before_main(reply("const std::uint64_t r[] = {8, 77}; if (write(3, r, 16) > 0) _exit(0);")),
      before_main(reply("const std::uint64_t r[] = {16, 0, 0}; if (write(3, r, 24) > 0) _exit(0);")),
      before_main(
          reply("const std::uint64_t r[] = {24, 1, 6, 0x646573736170}; if (write(3, r, 32) > 0) _exit(0);")),
      // a reply of the right length that holds what it was asked
      before_main(reply("std::uint64_t r[10] = {72, 0, 14}; std::memcpy(r + 3, ask + 2, 56); if (write(3, r, "
                        "80) > 0) _exit(0);")),
      // two processes answer
      before_main("if (fork() == 0) for (;;) dprintf(3, \"passed\\n65550\");"),
      // another std in the place of the exercise: once every comparison was 0 == 0
      "struct std { using uint32_t = ::uint32_t; using uint16_t = ::uint16_t; template <class To, class "
      "From>\n"
      "static constexpr To bit_cast(const From&) { return To{}; } };\n"
      "constexpr float float_from_half_bits(std::uint16_t) { return 42; }\n",
      // an indirect function, resolved before anything of the program runs
      answer(
          "extern \"C\" { inline int truth() { return 1; }\n"
          "inline void* pick() { dprintf(3, \"passed\\n65550\"); return reinterpret_cast<void*>(truth); }\n"
          "int hidden() __attribute__((ifunc(\"pick\"))); }"),
      // what ends the judge when it believes it
      answer("", "std::abort();"),
      answer("", "throw \"passed\\n65550\";"),
      answer("", "throw 1;"),
  };
  for (const std::string& text : texts) {
    const Verdict verdict = judged(text);
    CAPTURE(text, verdict.message, verdict.printed);
    CHECK_FALSE(verdict.passed());
    CHECK(verdict.outcome != Outcome::machine);
  }
}

TEST_CASE("forgery: what a text leaves out is not linked from the solution") {
  const ScratchFolder scratch("left_out");
  struct Text {
    const char *exercise, *text, *missing;
  };
  // Where the other functions of its file are weak those of the library do not clash with them: once the
  // linker took the library's object for what is missing, and the solution was judged.
  const Text texts[] = {
      {"unscale_then_clip",
       "[[gnu::weak]] void begin_step(const UpdateRule& rule, Cell<const GradientCounts> found,\n"
       "    bool skip_nonfinite, Cell<StepState> state, Cell<StepOutcome> report);\n"
       "[[gnu::weak]] void update(const UpdateRule& rule, const UpdateArenas& arenas,\n"
       "    Cell<const float> factor, Cell<const StepState> state, Cell<StepOutcome> report);\n"
       "[[gnu::weak]] void follow(const View& batch, double factor, double momentum,\n"
       "    Cell<const StepOutcome> report, const View& running);\n"
       "[[gnu::weak]] void update_scale(const LossScaling& policy, Cell<const GradientCounts> found,\n"
       "    bool last, Cell<ScaleState> state);\n"
       "[[gnu::weak]] void count_flushed(const View& x, const View& shadow, Cell<FlushCounts> counts);\n",
       "tinymp::kernels::cpu::clip("},
      {"recast",
       "asm(\".weak _ZN6tinymp8Autocast7cast_ofERKNS_6TensorENS_5DTypeE, "
       "_ZN6tinymp8AutocastC1ENS_5DTypeESt6vectorINS_12AutocastRuleESaIS3_EE, "
       "_ZN6tinymp8AutocastC2ENS_5DTypeESt6vectorINS_12AutocastRuleESaIS3_EE, "
       "_ZN6tinymp8AutocastD1Ev, _ZN6tinymp8AutocastD2Ev, "
       "_ZNK6tinymp8Autocast7rule_ofESt17basic_string_viewIcSt11char_traitsIcEE\");\n",
       "a virtual function of tinymp::Autocast"},
  };
  for (const Text& one : texts) {
    const Verdict verdict =
        judge(exercises_named(one.exercise).front(), one.text, "answer.cpp", scratch.path());
    CAPTURE(one.exercise, verdict.message);
    CHECK(verdict.outcome == Outcome::no_build);
    CHECK(verdict.message.find("nothing defines\n") != std::string::npos);
    CHECK(verdict.message.find(one.missing) != std::string::npos);
  }
}

TEST_CASE("forgery: a request for states that a scaler has moved does not tell how it moved them") {
  const Exercise exercise = exercises_named("move_scale").front();
  const ScratchFolder scratch("told");
  // The right answer, and it counts those that stand in the request behind the state that is to be moved: in
  // a run each state is the answer to the step before it.
  std::string real = exercise.reference();
  const std::string name = "move_scale(";
  real.replace(real.find(name), name.size(), "real_move_scale(");
  const std::string text =
      "}\n#include <sys/syscall.h>\n#include <unistd.h>\n#include <cstdio>\n#include <cstring>\n#include "
      "<vector>\n#include <tinymp/numeric/loss_scaling.h>\n"
      "inline std::vector<char> asked; inline std::size_t at, moved, told;\n"
      "extern \"C\" ssize_t read(int f, void* to, size_t n) {\n"
      "  const ssize_t got = syscall(SYS_read, f, to, n);\n"
      "  if (f == 0 && n == 8) asked.clear(), at = 0;\n"
      "  else if (f == 0 && got > 0) asked.insert(asked.end(), (char*)to, (char*)to + got);\n"
      "  return got; }\n"
      "struct Told { ~Told() { std::printf(\"%zu of %zu\", told, moved); } };\ninline Told at_the_end;\n"
      "namespace tinymp {\n" +
      real +
      "TINYMP_HD inline void move_scale(const DynamicScaling& policy, ScaleState& s) {\n"
      "  const auto holds = [](const ScaleState& x) { return std::memcmp(&asked[at], &x, 8) == 0; };\n"
      "  while (at + 8 <= asked.size() && !holds(s)) at += 4;\n"
      "  real_move_scale(policy, s);\n  ++moved;\n"
      "  const std::size_t here = at, end = asked.size() < at + 64 ? asked.size() : at + 64;\n"
      "  for (at += 4; at + 8 <= end; at += 4) if (holds(s)) { ++told; break; }\n"
      "  at = here + 4; }\n";
  const Verdict verdict = judge(exercise, text, "answer.h", scratch.path(), {.seed = 1});
  CAPTURE(verdict.message, verdict.printed);
  REQUIRE(verdict.passed());
  unsigned long told = 0, moved = 0;
  REQUIRE(std::sscanf(verdict.printed.c_str(), "%lu of %lu", &told, &moved) == 2);
  CHECK(moved > 100'000);
  CHECK(told < moved / 10);  // by chance: two runs in like states
}

TEST_CASE("forgery: answers written down from one judging do not pass the next") {
  const Exercise exercise = exercises_named("clip_factor").front();
  const ScratchFolder scratch("recorded");
  // It writes down what the reference makes of the first seed, and knows nothing else.
  const std::string file = (scratch.path() / "answers").string();
  const std::string reference = exercise.reference();
  std::string real = reference;
  const std::string name = "clip_factor(";
  real.replace(real.find(name), name.size(), "real_clip_factor(");
  const std::string head = "}\n#include <cstdio>\nnamespace tinymp::kernels {\n";
  const std::string records =
      head + real +
      "inline float clip_factor(double s, float m, float& f) { static std::FILE* out = std::fopen(\"" + file +
      "\", \"wb\"); const float n = real_clip_factor(s, m, f); const float both[2] = {n, f}; "
      "std::fwrite(both, 8, 1, out); std::fflush(out); return n; }\n";
  const std::string repeats =
      head + "inline float clip_factor(double, float, float& f) { static std::FILE* in = std::fopen(\"" +
      file +
      "\", \"rb\"); float both[2] = {}; "
      "(void)!std::fread(both, 8, 1, in); f = both[1]; return both[0]; }\n";
  const auto with_seed = [&](const std::string& text, std::uint64_t seed) {
    return judge(exercise, text, "answer.h", scratch.path(), {.seed = seed});
  };
  const Verdict first = with_seed(records, 1);
  CAPTURE(first.message);
  REQUIRE(first.passed());
  CHECK(with_seed(repeats, 1).passed());
  CHECK(with_seed(repeats, 2).outcome == Outcome::wrong);
  CHECK(with_seed(repeats, 1).seed == 1);
}

}  // namespace tinymp::test
