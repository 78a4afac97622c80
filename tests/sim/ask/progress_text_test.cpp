// What a line says of how far a search or a training is.

#include "sim/ask/progress_text.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(ProgressText, OfASearchSaysWhatIsFoundAndProved) {
  EXPECT_EQ(progress_text({.stage = "cost tables", .done = -1}), "cost tables");
  EXPECT_EQ(progress_text({.stage = "elimination", .done = 0.4, .best = 0.1}),
            "elimination 40%, best 100 ms");
  EXPECT_EQ(progress_text({.stage = "simulation", .done = -1, .best = 0.1, .lower_bound = 0.099}),
            "simulation, best 100 ms, bound 99 ms, gap 1.00%");
}

TEST(ProgressText, OfARunCountsStepsOrMeasurements) {
  EXPECT_EQ(progress_text(RunProgress{"training", 0, 20}), "training: step 0 of 20");
  EXPECT_EQ(progress_text(RunProgress{"training", 3, 20, 2.3}),
            "training: step 3 of 20, loss 2.3000");
  EXPECT_EQ(progress_text(RunProgress{kMeasuringCosts, 3, 20, 2.3}), "measuring costs: 3 of 20");
}

}  // namespace
}  // namespace strata
