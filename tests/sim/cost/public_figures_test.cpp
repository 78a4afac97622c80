#include "tests/sim/cost/public_figures.h"

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/graph/zoo.h"

namespace strata {
namespace {

// Every figure within 10 % on a P100 and within 15 % on one die of a K80, with one efficiency
// model per kind. The table is printed; docs/profiles.md says how far each is when it is left out.
TEST(PublicFigures, ArePredictedWithinTheirLimits) {
  for (const PublicFigure& figure : public_figures()) {
    const double limit = figure.kind == "p100" ? 0.10 : 0.15;
    const auto costs = make_cost_model(load_profile(std::string(figure.kind)));
    const Seconds step = one_device_step(build_zoo(figure.model, figure.batch), *costs);
    const double predicted = static_cast<double>(figure.batch) / step.value;
    const double error = predicted / figure.throughput - 1;
    fmt::print("{:5} {:13} {:4} {:8.1f} {:8.1f} {:+6.1f} %\n", figure.kind, figure.model,
               figure.batch, figure.throughput, predicted, 100 * error);
    EXPECT_LE(std::abs(error), limit) << figure.kind << " " << figure.model;
  }
}

}  // namespace
}  // namespace strata
