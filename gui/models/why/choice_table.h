#pragma once

// An Explanation as a table: every config that a layer could have, what it would cost among the
// neighbours that it has, and what insisting on it would cost. Sorted by the view, by the role
// `plain`. Qt's thread.

#include "gui/models/headed_table.h"
#include "gui/models/why/explained.h"

namespace strata::gui {

class ChoiceTable : public HeadedTable {
  Q_OBJECT

 public:
  enum Column : std::uint8_t {
    config_column,
    costs_column,  ///< a bar: compute, transfer in and out, sync
    total_column,
    regret_column,
    binding_column,
    memory_column,
    column_count
  };
  static constexpr int plain = Qt::UserRole;

  explicit ChoiceTable(QObject* parent = nullptr);

  void set_explained(ExplainedPtr explained);
  const ExplainedPtr& explained() const { return explained_; }
  const ChoiceCosts& choice(int row) const;
  bool chosen(int row) const;
  /// The smallest device has less memory.
  bool too_large(int row) const;
  /// The largest total among the choices that somebody might take: bars are as long as that.
  Seconds longest() const { return longest_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

  QString csv() const;

 private:
  QString text(int row, int column) const;
  QVariant plain_data(int row, int column) const;

  ExplainedPtr explained_;
  Seconds longest_;
};

}  // namespace strata::gui
