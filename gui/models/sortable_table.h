#pragma once

// A table that puts its own rows in another order. What a view has picked it knows by persistent
// indexes: they move with their rows, so that the picked row stays picked, not its place. Lives in
// the window's thread.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "gui/models/headed_table.h"

namespace strata::gui {

class SortableTable : public HeadedTable {
 public:
  using HeadedTable::HeadedTable;

 protected:
  /// Equal rows stay in the order that they have.
  template <class Row, class Before>
  void sort_rows(std::vector<Row>& rows, const Before& before) {
    std::vector<std::size_t> order(rows.size());  // by new place: the old one
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return before(rows[a], rows[b]); });
    emit layoutAboutToBeChanged();  // views make their persistent indexes now
    std::vector<Row> sorted;
    sorted.reserve(rows.size());
    for (const std::size_t old : order) sorted.push_back(std::move(rows[old]));
    rows = std::move(sorted);
    move_indexes(order);
    emit layoutChanged();
  }

 private:
  void move_indexes(const std::vector<std::size_t>& order) {
    std::vector<int> place(order.size());  // by old place: the new one
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
    const QModelIndexList before = persistentIndexList();
    QModelIndexList after;
    for (const QModelIndex& old : before) {
      after << index(place[static_cast<std::size_t>(old.row())], old.column());
    }
    changePersistentIndexList(before, after);
  }
};

}  // namespace strata::gui
