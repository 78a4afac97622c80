#include "gui/models/why/choice_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gui/models/csv.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr std::array<TableHeading, ChoiceTable::column_count> kChoiceHeadings = {{
    {"cut", "in how many parts each dim is cut"},
    {"costs",
     "compute, transfer in and out, sync: Eq. 1 of this layer and those that share its cut, the "
     "neighbours being as they are"},
    {"sum", "the four together", "", true},
    {"regret", "how much longer a step takes under Eq. 1, all other layers chosen anew", "", true},
    {"largest transfer", "the neighbour that costs most"},
    {"memory", "what the fullest device keeps at least, all other layers being as they are", "",
     true},
}};

// Bars are drawn to the length of the dearest choice that is not absurd.
constexpr double kAbsurd = 6;

}  // namespace

ChoiceTable::ChoiceTable(QObject* parent) : HeadedTable(kChoiceHeadings, parent) {}

void ChoiceTable::set_explained(ExplainedPtr explained) {
  beginResetModel();
  explained_ = std::move(explained);
  longest_ = {};
  if (explained_) {
    Seconds least{1e300};
    for (const ChoiceCosts& costs : explained_->explanation.choices) {
      least = std::min(least, costs.total());
    }
    for (const ChoiceCosts& costs : explained_->explanation.choices) {
      if (costs.total() <= kAbsurd * least) longest_ = std::max(longest_, costs.total());
    }
  }
  endResetModel();
}

const ChoiceCosts& ChoiceTable::choice(int row) const {
  return explained_->explanation.choices[static_cast<std::size_t>(row)];
}

bool ChoiceTable::chosen(int row) const {
  return explained_->explanation.chosen == static_cast<std::size_t>(row);
}

bool ChoiceTable::too_large(int row) const {
  return explained_->memory[static_cast<std::size_t>(row)] > explained_->capacity;
}

int ChoiceTable::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !explained_) return 0;
  return static_cast<int>(explained_->explanation.choices.size());
}

QVariant ChoiceTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !explained_) return {};
  const int row = index.row(), column = index.column();
  if (role == plain) return plain_data(row, column);
  if (role == Qt::DisplayRole) return text(row, column);
  if (role == Qt::ToolTipRole && column == costs_column) {
    const ChoiceCosts& costs = choice(row);
    return tr("compute %1, transfer in %2, transfer out %3, sync %4")
        .arg(human_seconds(costs.compute), human_seconds(costs.transfer_in),
             human_seconds(costs.transfer_out), human_seconds(costs.sync));
  }
  if (role == Qt::ToolTipRole && column == memory_column && too_large(row)) {
    return tr("The smallest device has %1").arg(human_bytes(explained_->capacity));
  }
  return HeadedTable::data(index, role);
}

QVariant ChoiceTable::plain_data(int row, int column) const {
  switch (column) {
    case costs_column:
    case total_column:
      return choice(row).total().value;
    case regret_column:
      return choice(row).regret.value;
    case binding_column:
      return choice(row).binding_transfer.value;
    case memory_column:
      return static_cast<qlonglong>(explained_->memory[static_cast<std::size_t>(row)].value);
    default:
      return text(row, column);
  }
}

QString ChoiceTable::text(int row, int column) const {
  const ChoiceCosts& costs = choice(row);
  switch (column) {
    case config_column:
      return human_config(costs.config) + (chosen(row) ? tr("  (chosen)") : QString());
    case total_column:
      return human_seconds(costs.total());
    case regret_column:
      return costs.regret.value <= 0 ? tr("none") : QLatin1Char('+') + human_seconds(costs.regret);
    case binding_column:
      if (!costs.binding.valid()) return {};
      return tr("%1, %2").arg(
          QString::fromStdString(explained_->scene->input.graph[costs.binding].name),
          human_seconds(costs.binding_transfer));
    case memory_column:
      return human_bytes(explained_->memory[static_cast<std::size_t>(row)]) +
             (too_large(row) ? tr(" does not fit") : QString());
    default:
      return {};
  }
}

QString ChoiceTable::csv() const {
  QString text = QStringLiteral(
      "config,compute_seconds,transfer_in_seconds,transfer_out_seconds,sync_seconds,"
      "regret_seconds,binding_layer,binding_seconds,memory_bytes,chosen\n");
  for (int row = 0; row < rowCount(); ++row) {
    const ChoiceCosts& costs = choice(row);
    QStringList fields{human_config(costs.config)};
    for (const Seconds seconds :
         {costs.compute, costs.transfer_in, costs.transfer_out, costs.sync, costs.regret}) {
      fields << QString::number(seconds.value, 'g', 9);
    }
    fields << (costs.binding.valid()
                   ? QString::fromStdString(explained_->scene->input.graph[costs.binding].name)
                   : QString());
    fields << QString::number(costs.binding_transfer.value, 'g', 9);
    fields << QString::number(explained_->memory[static_cast<std::size_t>(row)].value);
    fields << (chosen(row) ? QStringLiteral("1") : QStringLiteral("0"));
    text += csv_line(fields);
  }
  return text;
}

}  // namespace strata::gui
