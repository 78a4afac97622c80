#include "sim/kernels/fit_kernels.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/counter_random.h"
#include "sim/base/error.h"
#include "sim/kernels/import_tables.h"
#include "sim/kernels/kernel_lookup.h"

namespace strata {
namespace {

// Passes of 20 us and 50 GB/s, that a fit begins at 10 us and 100 GB/s.
KernelTable passes() {
  KernelTable table{KernelKind::elementwise, DType::fp32, {}, {}, {}, {}, {1e-5, 1e11}, {}, {}};
  for (std::int64_t elements = 1024; elements < (1 << 24); elements = elements * 5 / 4) {
    const Seconds seconds =
        modelled(table.kernel, table.dtype, std::vector{2e-5, 5e10}, {2, elements});
    table.rows.push_back({{2, elements}, seconds.value * 1e3});
  }
  return table;
}

TEST(FitKernels, FindsTheParametersThatMadeTheRows) {
  const KernelTable table = passes();
  const std::vector<double> found = fitted_parameters(table, table.parameters);
  EXPECT_NEAR(found[0], 2e-5, 2e-7);
  EXPECT_NEAR(found[1], 5e10, 5e8);
}

TEST(FitKernels, FindsWhatACallCosts) {
  KernelTable table = passes();
  const std::vector<KernelRow> rows = table.rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].ms += 1e-3 * (30 + 2 * static_cast<double>(i));
  }
  const CallOverhead found = fitted_overhead(table, {2e-5, 5e10}, Seconds{2e-5}, true);
  EXPECT_NEAR(found.each.value, 30e-6, 2e-6);
  EXPECT_NEAR(found.growth.value, 2e-6, 0.1e-6);
  // A row of which it is most is left out.
  const std::vector<KernelRow> left = without_overhead(table.rows, {{30e-6}, {2e-6}});
  ASSERT_LT(left.size(), rows.size());
  EXPECT_NEAR(left.back().ms, rows.back().ms, 1e-6);
}

TEST(FitKernels, WhatIsThinnedOutIsPredictedByWhatStays) {
  KernelTable table = passes();
  const CounterRandom random(3, "noise");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].ms *= std::exp(0.02 * random.normal(i));
  }
  const KernelTable thin = thinned(table, 0.03);
  EXPECT_LT(thin.rows.size(), table.rows.size() / 2);
  const KernelLookup times(thin);
  for (const KernelRow& row : table.rows) {
    const auto time = times(row.shape);
    ASSERT_TRUE(time);
    if (time->measured) continue;
    EXPECT_NEAR(time->seconds / row.seconds(), 1, 0.03);
  }
}

TEST(FitKernels, RowsWithoutNoiseAreLeftOutWithoutError) {
  const LeftOutErrors errors = left_out_errors(passes());
  EXPECT_EQ(errors.all.rows, passes().rows.size());
  EXPECT_LT(errors.all.table.p95, 0.005);
  std::size_t rows = 0;
  for (const LeftOutErrors::Size& size : errors.sizes) rows += size.rows;
  EXPECT_EQ(rows, errors.all.rows);
}

TEST(ImportTables, GridsOfPassesNeedTheirOperation) {
  const Profile profile = load_profile("k80");
  const std::string rows = "rows,columns,ms\n100,200,1\n100,400,2\n";
  const auto tables = import_tables(profile, {{"a.csv", rows, "add"}}, {});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].table.rows, (std::vector<KernelRow>{{{3, 20'000}, 1}, {{3, 40'000}, 2}}));
  EXPECT_THROW(import_tables(profile, {{"a.csv", rows, ""}}, {}), InputError);
  EXPECT_THROW(import_tables(profile, {{"a.csv", rows, "tanh"}}, {}), InputError);
}

TEST(ImportTables, StandInForTablesOfTheSameKernelAndType) {
  Profile profile = load_profile("k80");
  const auto of = [&](DType dtype) {
    KernelImport options;
    options.dtype = dtype;
    return import_tables(profile, {{"a.csv", "tensors,elements,ms\n2,1000,1\n", ""}}, options);
  };
  profile = with_tables(std::move(profile), of(DType::fp32));
  profile = with_tables(std::move(profile), of(DType::bf16));
  profile = with_tables(std::move(profile), of(DType::fp32));
  EXPECT_EQ(profile.tables.size(), 2U);
}

// As editors and spreadsheets write tables: a mark of UTF-8, blanks around names, comments.
TEST(ImportTables, ReadMarksAndBlanks) {
  const Profile profile = load_profile("k80");
  const std::string mark = "\xEF\xBB\xBF";
  const auto rows = [&](const std::string& text, const std::string& operation) {
    return import_tables(profile, {{"a.csv", text, operation}}, {})[0].table.rows;
  };
  EXPECT_EQ(rows(mark + "tensors, elements ,\tms\r\n2, 1000 ,1\r\n", ""),
            (std::vector<KernelRow>{{{2, 1000}, 1}}));
  EXPECT_EQ(rows(mark + "# a lab's\nrows, columns ,ms\r\n10,100,1\r\n", "relu"),
            (std::vector<KernelRow>{{{2, 1000}, 1}}));
}

TEST(ImportTables, SayWhatBecameOfTheRowsOfEachFile) {
  const Profile profile = load_profile("k80");
  std::string relu = "rows,columns,ms\n", add = relu;
  for (int i = 1; i <= 40; ++i) {  // 100 GB/s, and 30 us or 70 us of the host's
    relu += fmt::format("1000,{},{}\n", 1000 * i, 0.03 + 0.08 * i);
    add += fmt::format("1000,{},{}\n", 1000 * i, 0.07 + 0.12 * i);
  }
  add += "1000,40000,9\n";
  relu += "1,1,0.03\n";
  KernelImport options;
  options.overheads = CallOverheads::constant;
  const ImportedTable found = import_tables(
      profile, {{"lab/relu.csv", relu, "relu"}, {"lab/add.csv", add, "add"}}, options)[0];
  ASSERT_EQ(found.overheads.size(), 2U);
  EXPECT_EQ(found.repeated, 1U);
  EXPECT_GE(found.too_short, 1U);
  EXPECT_EQ(found.read + found.repeated + found.too_short, 82U);
  EXPECT_THAT(found.table.note,
              testing::MatchesRegex(".* us of call overhead taken off each row of relu.csv. .* us "
                                    "of call overhead taken off each "
                                    "row of add.csv. .* left out of which that is most. 1 row more "
                                    "of the same shapes: the median "
                                    "stands for them."));
}

}  // namespace
}  // namespace strata
