// Implementations of an attention, beside rows of theirs that others measured (profiles/sources).

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/cost/cost_model.h"
#include "sim/profile/profile.h"
#include "tests/paths.h"

namespace strata {
namespace {

struct AttentionRow {
  std::string first;  ///< the kernel, or the pass
  std::int64_t batch = 0, seq = 0, heads = 0, kv_heads = 0, head_dim = 0;
  bool causal = false;
  double ms = 0;
};

std::vector<AttentionRow> rows_of(const std::string& file) {
  std::ifstream in(source_path("profiles/sources/" + file));
  std::vector<AttentionRow> rows;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    if (row.size() < 8 || row[1] == "batch") continue;
    rows.push_back({row[0], std::stoll(row[1]), std::stoll(row[2]), std::stoll(row[3]),
                    std::stoll(row[4]), std::stoll(row[5]), row[6] == "1", std::stod(row[7])});
  }
  return rows;
}

Seconds time_of(const CostModel& model, const AttentionRow& row, Phase phase) {
  Attention attention;
  attention.head_size = row.head_dim;
  attention.causal = row.causal;
  const Op op = attention;
  const Extents queries{{row.batch, row.heads * row.head_dim, 1, 1, row.seq}};
  const Extents keys{{row.batch, row.kv_heads * row.head_dim, 1, 1, row.seq}};
  const std::vector<Extents> inputs = {queries, keys, keys};
  return model.compute({&op, queries, inputs, {}, DType::bf16}, phase).seconds;
}

std::unique_ptr<CostModel> model_of(const std::string& kind, AttentionKernel kernel) {
  KernelTraits kernels;
  kernels.attention = kernel;
  kernels.burst_clocks = true;
  return make_cost_model(load_profile(kind))->with(kernels);
}

/// What is measured of what is predicted: the logarithms' mean and their spread.
struct Ratios {
  double mean = 0, spread = 0;
};
Ratios ratios(const CostModel& model, const std::vector<AttentionRow>& rows, std::string_view first,
              Phase phase) {
  double sum = 0, squares = 0;
  int count = 0;
  for (const AttentionRow& row : rows) {
    if (row.first != first || row.seq < 1024) continue;
    const double ratio = std::log(row.ms * 1e-3 / time_of(model, row, phase).value);
    sum += ratio, squares += ratio * ratio, ++count;
  }
  EXPECT_GT(count, 0) << first;
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}

void expect_unbiased(const std::string& kind, AttentionKernel kernel, const std::string& file,
                     std::string_view first, Phase phase) {
  const Ratios found = ratios(*model_of(kind, kernel), rows_of(file), first, phase);
  fmt::print("{} {} {} {}: {:+.1f} %, spread {:.1f} %\n", kind, name(kernel), file, name(phase),
             100 * std::expm1(found.mean), 100 * found.spread);
  EXPECT_NEAR(found.mean, 0, 0.02) << kind << " " << name(kernel) << " " << name(phase);
  EXPECT_LT(found.spread, 0.2) << kind << " " << name(kernel) << " " << name(phase);
}

TEST(AttentionKernels, AreAsFastAsTheRowsOfOthers) {
  using enum AttentionKernel;
  expect_unbiased("h200", cudnn, "cudnn_attention_h200.csv", "forward", Phase::forward);
  expect_unbiased("h200", cudnn, "cudnn_attention_h200.csv", "backward", Phase::backward_data);
}

// The profiles' rows of training are of it: forward two products of seven, backward five.
TEST(AttentionKernels, BothPassesOfFlashAttention2AreItsCharts) {
  for (const std::string kind : {"a100", "h100"}) {
    const auto model = model_of(kind, AttentionKernel::flash2);
    const Profile profile = load_profile(kind);
    double sum = 0;
    int count = 0;
    for (const KernelTable& table : profile.tables) {
      if (table.kernel != KernelKind::attention_training) continue;
      for (const KernelRow& row : table.rows) {
        const KernelShape& s = row.shape;
        if (s[1] < 1024 || s[5] == 0) continue;
        const AttentionRow shape{"", s[0], s[1], s[2], s[3], s[4], true, 0};
        const Seconds both =
            time_of(*model, shape, Phase::forward) + time_of(*model, shape, Phase::backward_data);
        sum += std::log(row.seconds() / both), ++count;
      }
    }
    ASSERT_GT(count, 0);
    fmt::print("{} flash2, both passes: {:+.1f} %\n", kind, 100 * std::expm1(sum / count));
    EXPECT_NEAR(sum / count, 0, 0.05) << kind;
  }
}

TEST(AttentionKernels, AreThoseThatProfilesKnow) {
  const auto model = make_cost_model(load_profile("a100"));
  EXPECT_TRUE(model->has(AttentionKernel::flash2));
  EXPECT_FALSE(model->has(AttentionKernel::flash3));
  EXPECT_TRUE(model->has(AttentionKernel::unfused));
}

// One that is twice as fast forward and half as fast backward.
TEST(AttentionKernels, TakeTheRowsTimeByTheirSpeed) {
  Profile profile = load_profile("a100");
  profile.attention[static_cast<std::size_t>(AttentionKernel::flash3)] = {{2, ""}, {0.5, ""}};
  KernelTraits kernels;
  kernels.burst_clocks = true;
  const AttentionRow shape{"", 4, 2048, 16, 16, 128, true, 0};
  const auto usual = make_cost_model(profile)->with(kernels);
  kernels.attention = AttentionKernel::flash3;
  const auto other = usual->with(kernels);
  for (const auto& [phase, times] :
       {std::pair{Phase::forward, 0.5}, std::pair{Phase::backward_data, 2.0}}) {
    EXPECT_DOUBLE_EQ(time_of(*other, shape, phase).value,
                     times * time_of(*usual, shape, phase).value);
  }
}

}  // namespace
}  // namespace strata
