// A table whose model sorts itself: rows by their numbers there, columns as wide as there is room.

#include "gui/widgets/fitted_table.h"

#include <QHeaderView>
#include <QHelpEvent>
#include <QStandardItemModel>
#include <QTest>
#include <QToolTip>

#include <gmock/gmock.h>

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

constexpr int kName = 0, kNumber = 1;

// Rows 3, 1, 2, of which the name gives way.
class FittedTableTest : public ::testing::Test {
 protected:
  FittedTableTest() {
    for (const char* number : {"3", "1", "2"}) add(number);
    table_.sortByColumn(kNumber, Qt::DescendingOrder);
    QObject::connect(&table_, &FittedTable::row_picked, [this](int row) { told_.push_back(row); });
    table_.resize(600, 200);
    table_.show();
  }
  void add(const char* number) {
    model_.appendRow({new QStandardItem("a name that is rather long"), new QStandardItem(number)});
  }
  QString number(int row) const { return model_.index(row, kNumber).data().toString(); }

  QStandardItemModel model_;
  FittedTable table_{&model_, {kName}};
  std::vector<int> told_;
};

TEST_F(FittedTableTest, GoesFromRowToRowAndRoundAgain) {
  EXPECT_FALSE(table_.picked());
  for (int i = 0; i < 4; ++i) table_.pick_next();
  EXPECT_THAT(told_, ElementsAre(0, 1, 2, 0));
  table_.pick(1);
  EXPECT_EQ(table_.picked(), 1);
  EXPECT_THAT(table_.picked_rows(), ElementsAre(1));
  EXPECT_EQ(number(1), "2");
}

TEST_F(FittedTableTest, NamesGiveWayWhereThereIsNoRoom) {
  const int name = table_.columnWidth(kName), wide = table_.columnWidth(kNumber);
  table_.resize(name / 2 + wide, 200);
  EXPECT_LT(table_.columnWidth(kName), name);
  EXPECT_LE(table_.horizontalHeader()->length(), table_.viewport()->width());
  table_.resize(600, 200);
  EXPECT_EQ(table_.columnWidth(kName), name);
}

TEST_F(FittedTableTest, NamesStayWholeWhereItScrollsAnyway) {
  const int name = static_cast<QAbstractItemView&>(table_).sizeHintForColumn(kName);
  table_.resize(table_.horizontalHeader()->sectionSizeHint(kName), 200);
  EXPECT_GE(table_.columnWidth(kName), name);
  EXPECT_GT(table_.horizontalHeader()->length(), table_.viewport()->width());
}

// Elided in the middle both would be the same: "mixed_4a_bra…conv_bn_relu".
TEST(FittedTableNames, WhatNeighboursShareGivesWayFirst) {
  QStandardItemModel model;
  for (const char* name : {"mixed_4a_branch1_conv_bn_relu", "mixed_4a_branch2_conv_bn_relu"}) {
    model.appendRow(new QStandardItem(name));
  }
  FittedTable table(&model, {0});
  table.setAlternatingRowColors(false);
  table.setColumnWidth(0, table.fontMetrics().horizontalAdvance("…branch1_conv_bn_relu") + 20);
  table.resize(400, 200);
  const auto cell = [&](int row) {
    return table.viewport()->grab(table.visualRect(model.index(row, 0))).toImage();
  };
  EXPECT_NE(cell(0), cell(1));
  table.show();
  const QPoint middle = table.visualRect(model.index(1, 0)).center();
  QHelpEvent asked(QEvent::ToolTip, middle, table.viewport()->mapToGlobal(middle));
  QCoreApplication::sendEvent(table.viewport(), &asked);
  EXPECT_EQ(QToolTip::text(), model.index(1, 0).data().toString());
}

TEST_F(FittedTableTest, WidthsThatTheUserMadeStay) {
  table_.setColumnWidth(kNumber, 77);
  table_.resize(300, 200);
  EXPECT_EQ(table_.columnWidth(kNumber), 77);
}

// A table of numbers that is filled anew.
class Numbers : public QAbstractTableModel {
 public:
  void show(std::vector<int> numbers) {
    beginResetModel();
    numbers_ = std::move(numbers);
    endResetModel();
  }
  void change(int row, int number) {
    numbers_[static_cast<std::size_t>(row)] = number;
    emit dataChanged(index(row, 0), index(row, 0));
  }
  const std::vector<int>& numbers() const { return numbers_; }
  int rowCount(const QModelIndex& = {}) const override { return static_cast<int>(numbers_.size()); }
  int columnCount(const QModelIndex& = {}) const override { return 1; }
  QVariant data(const QModelIndex& at, int role) const override {
    return role == Qt::DisplayRole ? numbers_[static_cast<std::size_t>(at.row())] : QVariant();
  }
  void sort(int, Qt::SortOrder order) override {
    std::sort(numbers_.begin(), numbers_.end());
    if (order == Qt::DescendingOrder) std::reverse(numbers_.begin(), numbers_.end());
  }

 private:
  std::vector<int> numbers_;
};

TEST(SortedFittedTableTest, NewRowsStandAsTheOldOnesDid) {
  Numbers model;
  FittedTable table(&model, {});
  table.pick_next();
  EXPECT_FALSE(table.picked());
  table.sortByColumn(0, Qt::DescendingOrder);
  model.show({3, 1, 2});
  EXPECT_THAT(model.numbers(), ElementsAre(3, 2, 1));
  table.sortByColumn(0, Qt::AscendingOrder);
  model.show({6, 5, 7});
  EXPECT_THAT(model.numbers(), ElementsAre(5, 6, 7));
  model.change(1, 9);
  EXPECT_THAT(model.numbers(), ElementsAre(5, 7, 9));
}

}  // namespace
}  // namespace strata::gui
