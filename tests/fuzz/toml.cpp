// TOML text, and a string of it quoted and read again.

#include "sim/text/toml.h"

#include <cstdlib>

#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {
    "name", "a",    "b",      "a.b", "\"a b\".c", "true", "false", "'x'", "1979-05-27T07:32:00Z",
    "inf",  "0o17", "\"\"\"", "'''"};
constexpr std::string_view kLines[] = {"[table]",
                                       "[[tables]]",
                                       "[table.of.tables]",
                                       "x = { a = 1, b.c = \"y\" }",
                                       "y = [1, [2, [3]], { z = 4 }]",
                                       "t = \"\"\"two\nlines \\\n  and a half\"\"\"",
                                       "u = 'C:\\x'",
                                       "\"quoted\".'key' = 1 # and a comment of 0.1 0.2",
                                       "e = \"\\u00e9\\U0001F600\\\\\""};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const strata::Document document = strata::parse_toml(text, "a.toml");
    for (const auto& [key, value] : document.table().members()) {
      if (!value.is(strata::ValueKind::string)) continue;
      const std::string again = "key = " + strata::toml_quoted(value.as_string());
      if (strata::parse_toml(again, "b.toml").table().string("key") != value.as_string()) {
        std::abort();
      }
    }
  });
}
