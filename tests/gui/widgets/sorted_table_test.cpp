// A table beside a picture: rows by their numbers in the model, columns as far as there is room.

#include "gui/widgets/sorted_table.h"

#include <QHeaderView>
#include <QStandardItemModel>
#include <QTest>

#include <gmock/gmock.h>

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

// Rows 3, 1, 2: sorted, the first stands on top, then the third.
class SortedTableTest : public ::testing::Test {
 protected:
  SortedTableTest() {
    for (const int number : {3, 1, 2}) {
      QList<QStandardItem*> row;
      for (const char* text : {"name", "number", "more"}) {
        row << new QStandardItem(text);
        row.back()->setData(number, Qt::UserRole);
      }
      model_.appendRow(row);
    }
    QObject::connect(&table_, &SortedTable::row_picked, [this](int row) { told_.push_back(row); });
    table_.resize(600, 200);
    table_.show();
  }

  QStandardItemModel model_;
  SortedTable table_{model_, 1};
  std::vector<int> told_;
};

TEST_F(SortedTableTest, TellsRowsAsTheModelNumbersThem) {
  EXPECT_FALSE(table_.picked());
  for (int i = 0; i < 4; ++i) table_.pick_next();
  EXPECT_THAT(told_, ElementsAre(0, 2, 1, 0));
  table_.pick(1);
  EXPECT_EQ(table_.picked(), 1);
  EXPECT_EQ(table_.currentIndex().row(), 2);
}

TEST_F(SortedTableTest, LeavesOutTheLastColumnsWhereThereIsNoRoom) {
  EXPECT_FALSE(table_.isColumnHidden(2));
  EXPECT_EQ(table_.horizontalHeader()->length(), table_.viewport()->width());
  table_.resize(table_.columnWidth(0) / 2, 200);
  EXPECT_FALSE(table_.isColumnHidden(0));
  EXPECT_TRUE(table_.isColumnHidden(2));
  table_.resize(600, 200);
  EXPECT_FALSE(table_.isColumnHidden(2));
}

TEST(EmptySortedTableTest, HasNothingToPick) {
  QStandardItemModel model;
  SortedTable table(model, 0);
  table.pick_next();
  EXPECT_FALSE(table.picked());
}

}  // namespace
}  // namespace strata::gui
