// What is shipped of measured kernels, held back in turn and told by the rest.

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/kernels/fit_kernels.h"
#include "sim/profile/profile.h"

namespace strata {
namespace {

// What the shipped rows, which are those that are hard to predict, promise for others. All rows of
// their sources: docs/profiles.md.
TEST(ShippedTables, PredictRowsThatAreLeftOut) {
  struct Limit {
    KernelKind kernel;
    DType dtype;
    double median, p95;
    std::string_view kind = {};  // all where it says none
  };
  constexpr Limit kLimits[] = {{KernelKind::product, DType::bf16, 0.055, 0.18, "b200"},
                               {KernelKind::attention, DType::bf16, 0.055, 0.18, "b200"},
                               {KernelKind::attention, DType::bf16, 0.055, 0.18, "gb200"},
                               {KernelKind::product, DType::bf16, 0.05, 0.15},
                               {KernelKind::attention, DType::bf16, 0.05, 0.15},
                               {KernelKind::product, DType::fp8, 0.08, 0.22, "b200"},
                               {KernelKind::product, DType::fp8, 0.08, 0.22, "gb200"},
                               {KernelKind::product, DType::fp8, 0.08, 0.22, "gb300"},
                               {KernelKind::product, DType::fp8, 0.07, 0.17},
                               {KernelKind::product, DType::fp8_block, 0.06, 0.17},
                               {KernelKind::product, DType::nvfp4, 0.06, 0.17},
                               {KernelKind::attention_training, DType::bf16, 0.05, 0.15},
                               {KernelKind::convolution, DType::fp32, 0.12, 0.43, "a100"},
                               {KernelKind::convolution, DType::fp32, 0.10, 0.33},
                               {KernelKind::product, DType::fp32, 0.10, 0.33},
                               {KernelKind::elementwise, DType::fp32, 0.05, 0.15}};
  for (const std::string& kind : shipped_profiles()) {
    for (const KernelTable& table : load_profile(kind).tables) {
      if (!table.file.starts_with(kind + ".")) continue;  // another kind's, which judges it
      const LeftOutErrors errors = left_out_errors(table);
      const Limit* const limit =
          std::find_if(std::begin(kLimits), std::end(kLimits), [&](const Limit& l) {
            return l.kernel == table.kernel && l.dtype == table.dtype &&
                   (l.kind.empty() || l.kind == kind);
          });
      ASSERT_NE(limit, std::end(kLimits));
      fmt::print("{:9} {:18} {:6} {:5.1f} % {:5.1f} %   roofline {:5.1f} % {:5.1f} %\n", kind,
                 name(table.kernel), errors.all.rows, 100 * errors.all.table.median,
                 100 * errors.all.table.p95, 100 * errors.all.roofline.median,
                 100 * errors.all.roofline.p95);
      EXPECT_LE(errors.all.table.median, limit->median) << kind << " " << name(table.kernel);
      EXPECT_LE(errors.all.table.p95, limit->p95) << kind << " " << name(table.kernel);
      EXPECT_LT(errors.all.table.median, errors.all.roofline.median)
          << kind << " " << name(table.kernel);
    }
  }
}

}  // namespace
}  // namespace strata
