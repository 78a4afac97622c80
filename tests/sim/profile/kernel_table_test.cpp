#include "sim/profile/kernel_table.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/profile/kernel_entries.h"
#include "sim/profile/profile.h"

namespace strata {
namespace {

std::string rows_error(KernelKind kernel, const std::string& text) {
  try {
    parse_kernel_rows(kernel, text, "x.csv");
  } catch (const InputError& error) {
    return error.message();
  }
  return "no error";
}

TEST(KernelTable, RowsReadBackEqualToTheBit) {
  const std::vector<KernelRow> rows = {{{1, 64, 32, 128}, 1.0 / 3}, {{2, 64, 32, 128}, 0.25}};
  const std::string text = print_kernel_rows(KernelKind::product, rows);
  EXPECT_EQ(text, "batch,m,n,k,ms\n1,64,32,128,0.3333333333333333\n2,64,32,128,0.25\n");
  EXPECT_EQ(parse_kernel_rows(KernelKind::product, text, "x"), rows);
}

TEST(KernelTable, AColumnThatNoRowNeedsIsLeftOutAndOthersAreSkipped) {
  const std::vector<KernelRow> rows = {{{1, 64, 32, 128}, 0.5}};
  EXPECT_EQ(print_kernel_rows(KernelKind::product, rows), "m,n,k,ms\n64,32,128,0.5\n");
  EXPECT_EQ(parse_kernel_rows(KernelKind::product,
                              "# a comment\nk,ms,clock,n,m\r\n128,0.5,fast,32,64\n", "x"),
            rows);
}

TEST(KernelTable, TheFirstLineSaysWhichKernel) {
  EXPECT_EQ(kernel_of_header("m,n,k,ms\n"), KernelKind::product);
  EXPECT_EQ(kernel_of_header("# of a lab\nbatch,m,n,k,ms"), KernelKind::product);
  EXPECT_EQ(kernel_of_header("batch,seq,heads,kv_heads,head_dim,ms\n"), KernelKind::attention);
  EXPECT_EQ(kernel_of_header("batch,seq,heads,kv_heads,head_dim,causal,ms\n"),
            KernelKind::attention_training);
  EXPECT_EQ(kernel_of_header("tensors,elements,ms\n"), KernelKind::elementwise);
  EXPECT_EQ(kernel_of_header("m,n,k\n"), std::nullopt);
  EXPECT_EQ(kernel_of_header("m,n,ms\n"), std::nullopt);
}

TEST(KernelTable, EveryBadRowIsNamedWithWhatIsAllowed) {
  EXPECT_EQ(rows_error(KernelKind::product, "m,n,k,ms\n1,2,3\n0,2,3,1\n1,2,3,0\n1,2,3,1\n"),
            "x.csv:2: the first line names 4 columns; this row has 3\n"
            "x.csv:3: '0' is no value of m; allowed: an integer of at least 1\n"
            "x.csv:4: '0' is no value of ms; allowed: a positive number of milliseconds, at most "
            "1e9");
  EXPECT_EQ(rows_error(KernelKind::product, "m,n,ms\n"),
            "x.csv:1: the first line of a table of matrix products names the columns m,n,k,ms");
}

TEST(KernelTable, OfAShapeThatComesTwiceTheMedianIsKept) {
  EXPECT_EQ(sorted_rows({{{2, 8}, 1}, {{2, 4}, 3}, {{2, 4}, 1}, {{2, 4}, 2}}),
            (std::vector<KernelRow>{{{2, 4}, 2}, {{2, 8}, 1}}));
}

KernelTable passes() {
  return {KernelKind::elementwise, DType::fp32, "a lab", "MIT", "2026-11-26", "all rows",
          {1e-05, 1e+11},          "x.csv",     {}};
}

TEST(KernelTable, EntriesOfAProfileReadBackEqual) {
  Profile profile = load_profile("k80");
  profile.tables = {passes()};
  EXPECT_EQ(parse_profile(print_profile(profile), "x"), profile);
  EXPECT_EQ(parse_profile(with_kernel_entries(profile_text("k80"), profile.tables), "x"), profile);
  EXPECT_EQ(with_kernel_entries(print_profile(profile), profile.tables), print_profile(profile));
}

TEST(KernelTable, OfAKernelAndATypeThereIsOneTable) {
  Profile profile = load_profile("k80");
  profile.tables = {passes(), passes()};
  try {
    parse_profile(print_profile(profile), "x.toml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(error.message().find("a second table of elementwise in fp32"), std::string::npos);
  }
}

TEST(KernelTable, ShippedTablesHaveRowsSourcesAndLicences) {
  for (const std::string& kind : shipped_profiles()) {
    for (const KernelTable& table : load_profile(kind).tables) {
      EXPECT_FALSE(table.rows.empty()) << kind << " " << name(table.kernel);
      EXPECT_FALSE(table.source.empty()) << kind << " " << name(table.kernel);
      EXPECT_FALSE(table.licence.empty()) << kind << " " << name(table.kernel);
      EXPECT_EQ(table.rows, sorted_rows(table.rows)) << kind << " " << name(table.kernel);
    }
  }
}

}  // namespace
}  // namespace strata
