// Cases drawn over all settings, on the desk: what is saved is read back as the case that it was.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gui/document/document.h"
#include "sim/ask/question.h"
#include "tests/folder.h"
#include "tests/metamorphic/drawn_case.h"

namespace strata::gui {
namespace {

TEST(DrawnDocuments, ComeBackFromTheirText) {
  const strata::testing::Folder folder("documents");
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    strata::testing::Random random(seed);
    const auto drawn = strata::testing::drawn_case(random, folder.path(), seed);
    const Question question = understand(Job::predict, drawn.settings);
    Document document;
    document.input = question.input();
    document.strategy.source = question.strategy();
    const SavedDesk desk{document, std::nullopt};
    ASSERT_EQ(parse_desk(print_desk(desk), "session.json"), desk) << drawn.text();
  }
}

}  // namespace
}  // namespace strata::gui
