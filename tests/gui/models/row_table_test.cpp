// A table is sorted the same whatever its values are.

#include "gui/models/row_table.h"

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Values = RowTable<int, QVariant>;
constexpr std::array<Values::Spec, 1> kOneColumn = {
    {{"value", "", "value", true, [](const int& /*none*/, const QVariant& value) {
        return TableCell{value.toString(), value};
      }}}};

std::vector<std::string> sorted(std::vector<QVariant> values, Qt::SortOrder direction) {
  Values table(kOneColumn, nullptr);
  table.show(0, std::move(values));
  table.sort(0, direction);
  std::vector<std::string> texts;
  for (const QVariant& value : table.rows()) texts.push_back(value.toString().toStdString());
  return texts;
}

// By a comparison for which NaN equals everything, 3 NaN 1 stays as it is.
TEST(RowTable, SortsWhatIsNoNumberToTheEnd) {
  const std::vector<QVariant> values = {3.0, kNan, 1.0, QStringLiteral("-"), 2, kNan, 0.5};
  EXPECT_THAT(sorted(values, Qt::AscendingOrder),
              ElementsAre("0.5", "1", "2", "3", "-", "nan", "nan"));
  EXPECT_THAT(sorted(values, Qt::DescendingOrder),
              ElementsAre("3", "2", "1", "0.5", "-", "nan", "nan"));
}

TEST(RowTable, KeepsEqualRowsInTheirOrder) {
  const std::vector<QVariant> values = {2, 1.0, 2.0, 1};
  EXPECT_THAT(sorted(values, Qt::AscendingOrder), ElementsAre("1", "1", "2", "2"));
}

}  // namespace
}  // namespace strata::gui
