#include "tests/sim/case/public_figures.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

// Every figure within 10 % on a P100 and within 15 % on one die of a K80, with one efficiency
// model per kind. The table is printed; docs/profiles.md says how far each is when it is left out.
TEST(PublicFigures, ArePredictedWithinTheirLimits) {
  for (const PublicFigure& figure : public_figures()) {
    const double limit = figure.kind == "p100" ? 0.10 : 0.15;
    const double predicted = predicted_throughput(public_case(figure));
    const double error = predicted / figure.throughput - 1;
    fmt::print("{:5} {:13} {:4} {:8.1f} {:8.1f} {:+6.1f} %\n", figure.kind, figure.model,
               figure.batch, figure.throughput, predicted, 100 * error);
    EXPECT_LE(std::abs(error), limit) << figure.kind << " " << figure.model;
  }
}

}  // namespace
}  // namespace strata
