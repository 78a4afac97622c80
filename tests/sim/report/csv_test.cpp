#include <limits>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/report/document.h"

namespace strata {
namespace {

TEST(ReportCsv, QuotesWhatItMust) {
  const ReportTable table{
      {"plain", "a,b", "say \"x\""},
      {{{"1", 1.0}, {"two\nlines", {}}, {"cr\r", {}}}, {{"", {}}, {" kept ", {}}, {"it's", {}}}}};
  EXPECT_EQ(print_csv(table),
            "plain,\"a,b\",\"say \"\"x\"\"\"\r\n"
            "1,\"two\nlines\",\"cr\r\"\r\n"
            ", kept ,it's\r\n");
}

TEST(ReportCsv, HasNumbersAndNotWhatStandsForThem) {
  const ReportTable table{
      {"t", "n", "m"},
      {{{"100 ms", 0.1}, {"1.2k", 1234.0}, {"tiny", 1e-7}},
       {{"?", std::numeric_limits<double>::infinity()}, {"-2.5", {}}, {"", {}}}}};
  EXPECT_EQ(print_csv(table), "t,n,m\r\n0.1,1234,1e-07\r\ninf,-2.5,\r\n");
}

TEST(ReportCsv, AnEmptyFieldAloneIsStillARecord) {
  EXPECT_EQ(print_csv({{"a"}, {{{"", {}}}, {{"x", {}}}}}), "a\r\n\"\"\r\nx\r\n");
}

TEST(ReportCsv, OfNoColumnsIsEmpty) {
  EXPECT_EQ(print_csv({}), "");
}

TEST(ReportCsv, RefusesRowsOfAnotherLength) {
  try {
    print_csv({{"a", "b"}, {{{"1", {}}, {"2", {}}}, {{"3", {}}}}});
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_EQ(error.message(), "report: row 1 of a table has 1 cells for 2 columns");
  }
}

}  // namespace
}  // namespace strata
