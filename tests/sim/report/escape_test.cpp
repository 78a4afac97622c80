#include "sim/report/escape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/utf8.h"
#include "tests/sim/report/markup.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReportUtf8, KeepsWhatIsWell) {
  for (const char* text : {"", "a b", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "a\n\tb"}) {
    EXPECT_EQ(clean_utf8(text), text);
  }
}

TEST(ReportUtf8, ReplacesEachByteThatIsNotWell) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_utf8("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(clean_utf8("\x80"), bad);
  EXPECT_EQ(clean_utf8("\xC3"), bad);                      // cut
  EXPECT_EQ(clean_utf8("\xE2\x82"), bad + bad);            // cut
  EXPECT_EQ(clean_utf8("\xE2\x82z"), bad + bad + "z");     // cut
  EXPECT_EQ(clean_utf8("\xC0\xAF"), bad + bad);            // '/' too long
  EXPECT_EQ(clean_utf8("\xE0\x80\xAF"), bad + bad + bad);  // the same
  EXPECT_EQ(clean_utf8("\xED\xA0\x80"), bad + bad + bad);  // a surrogate
  EXPECT_EQ(clean_utf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);
  EXPECT_EQ(clean_utf8(std::string_view("\0\x1B\x7F", 3)), bad + bad + bad);
  EXPECT_EQ(clean_utf8("\xC2\x85\xEF\xBF\xBF"), bad + bad);  // what HTML must not hold
  EXPECT_EQ(clean_utf8("a\r\nb"), "a \nb");
}

TEST(ReportEscape, MarkupNamesWhatWouldBeMarkup) {
  EXPECT_EQ(escape_markup("a < b > \"c\" & 'd'"), "a &lt; b &gt; &quot;c&quot; &amp; &#39;d&#39;");
  EXPECT_EQ(escape_markup("&amp;"), "&amp;amp;");
  EXPECT_EQ(escape_markup(kHostile), kHostileMarkup);
}

TEST(ReportEscape, MarkdownShowsTheTextAsItIs) {
  const struct {
    const char* text;
    const char* escaped;
  } table[] = {
      {"plain: 1.5 GB/s (x)", "plain: 1.5 GB/s (x)"},
      {"batch_per_device _so_ _", "batch_per_device \\_so\\_ \\_"},
      {"a*b `c` [d](e) <f> &amp; \\ ~~g~~ |",
       "a\\*b \\`c\\` \\[d\\](e) \\<f> \\&amp; \\\\ \\~\\~g\\~\\~ \\|"},
      {"# a #", "\\# a \\#"},
      {"conv#2", "conv#2"},
      {"- a", "\\- a"},
      {"+12 %", "\\+12 %"},
      {"> a", "\\> a"},
      {"===", "\\==="},
      {"1. a", "1\\. a"},
      {"12) a", "12\\) a"},
      {"1.5 a", "1.5 a"},
      {"7.", "7\\."},
      {"    code", "code"},
      {"a  \nb", "a\nb"},
      {"a\n- b", "a\n\\- b"},
      {"a\tb", "a b"},
  };
  for (const auto& [text, escaped] : table) EXPECT_EQ(escape_markdown(text), escaped);
}

TEST(ReportEscape, ACellIsOneLineThatBeginsNothing) {
  EXPECT_EQ(escape_markdown_line("-5 %\n| b"), "-5 % \\| b");
  EXPECT_EQ(escape_markdown_line("\n a \r\n\n b \n"), "a b");
  EXPECT_EQ(escape_markdown_line(""), "");
}

TEST(ReportEscape, EmptyLinesSeparateParagraphs) {
  EXPECT_THAT(paragraphs("a\nb\n\n \n c \r\n\r\nd\n"), ElementsAre("a\nb", "c", "d"));
  EXPECT_THAT(paragraphs("\n \n"), IsEmpty());
  EXPECT_THAT(paragraphs(""), IsEmpty());
}

}  // namespace
}  // namespace strata
