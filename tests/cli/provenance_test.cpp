#include "cli/output/provenance.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

std::string with_rounds(const std::string& command) {
  return with_option(command, "--rounds", "35", {"--seconds"});
}

TEST(CommandLine, QuotesWhatAShellWouldSplit) {
  const char* const words[] = {"/usr/bin/strata", "run", "my net.toml", "it's", ""};
  EXPECT_EQ(command_line(5, words), "strata run 'my net.toml' 'it'\\''s' ''");
}

TEST(CommandLine, TakesAnOptionInThePlaceOfOthers) {
  EXPECT_EQ(with_rounds("strata validate lenet5"), "strata validate lenet5 --rounds 35");
  EXPECT_EQ(with_rounds("strata validate --seconds 40 lenet5 --rounds=9 --only"),
            "strata validate lenet5 --only --rounds 35");
}

TEST(CommandLine, LeavesWhatOnlyLooksLikeTheOption) {
  for (const std::string same : {"strata validate 'a --rounds 3.toml'",
                                 "strata validate 'it'\\''s --seconds 4' --roundsman 2"}) {
    EXPECT_EQ(with_rounds(same), same + " --rounds 35");
  }
}

}  // namespace
}  // namespace strata
