#include "sim/case/cost_basis.h"

#include <gtest/gtest.h>

#include "sim/strategy/hybrid.h"

namespace strata {
namespace {

// The shares by source are those of the prediction's sources.
TEST(CostBasis, SaysOfEachOpWhatItsTimeRestsOn) {
  CaseRequest request;
  request.model = "gpt2:layers=2";
  request.cluster = "a100-1x4";
  request.training.batch = 8;
  request.training.dtype = DType::bf16;
  const Case input = load_case(request);
  const Prediction prediction = predict(input, hybrid_parallel(input.graph, 4, "hybrid:tp=2"));
  double related = 0, analytic = 0, measured = 0, before = 1;
  bool attends = false;
  for (const CostBasis& basis : cost_basis(input, prediction)) {
    (basis.source == CostSource::related    ? related
     : basis.source == CostSource::analytic ? analytic
                                            : measured) += basis.share;
    EXPECT_LE(basis.share, before);
    before = basis.share;
    attends = attends || (basis.op == "attention" && basis.phase == Phase::backward_data &&
                          basis.source == CostSource::related);
  }
  const CostSources& sources = prediction.sources;
  const double total = sources.total().value;
  EXPECT_NEAR(related, sources.related.value / total, 1e-3);
  EXPECT_NEAR(analytic, sources.analytic.value / total, 1e-3);
  EXPECT_NEAR(measured + related + analytic, 1, 1e-9);
  EXPECT_TRUE(attends);
}

}  // namespace
}  // namespace strata
