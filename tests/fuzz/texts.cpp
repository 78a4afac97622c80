// A text of a report, made harmless for HTML and Markdown: what comes out is UTF-8, and holds
// nothing that would begin markup.

#include <cstdlib>
#include <string>

#include "sim/report/escape.h"
#include "sim/report/text_size.h"
#include "sim/report/utf8.h"
#include "sim/text/diagnostics.h"
#include "tests/fuzz/harness.h"

namespace {

void check_clean(const std::string& text, const char* forbidden) {
  if (!strata::is_utf8(text)) std::abort();
  if (text.find_first_of(forbidden) != text.npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const std::string clean = strata::clean_utf8(text);
    check_clean(clean, "\r");
    if (strata::clean_utf8(clean) != clean) std::abort();
    check_clean(strata::escape_markup(text), "<>\"");
    check_clean(strata::escape_markdown(text), "\r");
    check_clean(strata::escape_markdown_line(text), "\r\n");
    for (const std::string& paragraph : strata::paragraphs(text)) {
      check_clean(strata::cut_text(paragraph, 40), "\r");
      check_clean(strata::cut_middle(paragraph, 40), "\r");
    }
  });
}
