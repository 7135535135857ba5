#include <lessons/lab/classroom/overlay.h>
#include <lessons/lab/classroom/similarity.h>
#include <lessons/lab/classroom/tokens.h>
#include <tests/fuzz/fuzz.h>
#include <tinymp/base/error.h>
#include <cstdlib>
#include <string>

// The text of a submission: all that is asked of it before a compiler sees it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tinymp;
  using namespace tinymp::classroom;
  const std::string text(text_of(data, size));
  const std::string stub = "half half_from_float(float x) { return {}; }\n";
  for (const Token& token : tokens_of(text))
    if (token.begin > text.size() || token.end() > text.size()) std::abort();
  (void)why_refused(text);
  (void)notable_words(text);
  (void)is_stub(text, stub);
  const double alike = likeness(shingles_of(text, stub), shingles_of(text.substr(text.size() / 2), stub));
  const double to = likeness_to(stub, text, "");
  if (!(alike >= 0 && alike <= 1 && to >= 0 && to <= 1)) std::abort();
  const std::string library = "namespace a {\n// <exercise x>\nint f();\n// </exercise x>\nint g();\n}\n";
  for (const bool is_piece : {true, false}) {
    try {
      (void)with_pieces(is_piece ? library : text, {{"x", is_piece ? text : stub, "mine/x.h", {{"g", "h"}}}},
                        "a.h");
      (void)region_of(text, "x", "a.h");
    } catch (const Error&) {
    }
  }
  return 0;
}
