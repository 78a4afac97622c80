#include "tests/sim/record/table.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace strata {
namespace {

using strata::testing::differences;
using strata::testing::different_names;
using strata::testing::parse_table;
using strata::testing::rows_named_by;
using strata::testing::Table;

const Table kEmpty{2, {"cluster", "sync", "seconds", "bytes"}, {}};
const Table kTwo{2, kEmpty.columns, {{"a", "ring", "1.5", "8"}, {"a", "ps", "2", "8"}}};

TEST(Table, ReadsBackWhatItPrints) {
  const std::string text = "cluster\tsync\tseconds\tbytes\na\tring\t1.5\t8\na\tps\t2\t8\n";
  EXPECT_EQ(print(kTwo), text);
  EXPECT_EQ(parse_table(text, kEmpty).rows, kTwo.rows);
}

std::string why_not(std::string_view text) try {
  parse_table(text, kEmpty);
  return "";
} catch (const InputError& error) {
  return error.what();
}

TEST(Table, RefusesWhatIsNoSuchTable) {
  const std::string head = "cluster\tsync\tseconds\tbytes\n";
  EXPECT_EQ(why_not(""), "line 1: expected the columns cluster sync seconds bytes");
  EXPECT_EQ(why_not("cluster\tsync\n"), "line 1: expected the columns cluster sync seconds bytes");
  EXPECT_EQ(why_not(head + "a\tring\t1\n"), "line 2: expected 4 cells");
  EXPECT_EQ(why_not(head + "a\tring\t1\t8\na\tring\t1\t9\n"), "line 3: a ring again");
}

TEST(Table, SaysWhichCellDiffers) {
  Table now = kTwo;
  now.rows[0][2] = "1.25", now.rows[1][3] = "9";
  EXPECT_EQ(differences(kTwo, kTwo), "");
  EXPECT_EQ(differences(kTwo, now),
            "a ring: seconds is 1.25, recorded 1.5\na ps: bytes is 9, recorded 8\n");
  EXPECT_EQ(differences(kTwo, now, 1), "a ring: seconds is 1.25, recorded 1.5\nand 1 more\n");
  EXPECT_EQ(different_names(kTwo, now), "");
}

TEST(Table, SaysWhichRowIsMissingOrTooMany) {
  Table one = kTwo;
  one.rows.pop_back();
  EXPECT_EQ(differences(kTwo, one), "a ps: in the record, but no case\n");
  EXPECT_EQ(differences(one, kTwo), "a ps: not in the record\n");
  EXPECT_EQ(different_names(one, kTwo), "a ps: not in the record\n");
  EXPECT_EQ(rows_named_by(kTwo, one).rows, one.rows);
}

}  // namespace
}  // namespace strata
