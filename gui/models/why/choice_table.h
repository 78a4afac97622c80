#pragma once

// An Explanation as a table: every config that a layer could have, what it would cost among the
// neighbours that it has, and what insisting on it would cost. Qt's thread.

#include "gui/models/row_table.h"
#include "gui/models/why/explained.h"

namespace strata::gui {

/// Rows are choices by number.
class ChoiceTable : public RowTable<ExplainedPtr, std::size_t> {
  Q_OBJECT

 public:
  enum Column : std::uint8_t {
    config_column,
    step_column,   ///< simulated, the other layers being as they are
    costs_column,  ///< a bar: compute, transfer in and out, sync
    total_column,
    regret_column,
    binding_column,
    memory_column,
    column_count
  };

  explicit ChoiceTable(QObject* parent = nullptr);

  void set_explained(ExplainedPtr explained);
  const ExplainedPtr& explained() const { return context_; }
  const ChoiceCosts& choice(int row) const {
    return context_->explanation.choices[rows_[static_cast<std::size_t>(row)]];
  }
  /// The largest total among the choices that somebody might take: bars are as long as that.
  Seconds longest() const { return longest_; }

  QString csv() const;

 private:
  Seconds longest_;
};

}  // namespace strata::gui
