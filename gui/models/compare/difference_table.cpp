#include "gui/models/compare/difference_table.h"

#include <array>
#include <cmath>
#include <limits>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

using None = std::monostate;
using Row = LayerDifference;

TableCell change_cell(Seconds change, const QString& tip = {}) {
  return {signed_seconds(change), change.value, tip, change.value};
}
template <Seconds LayerTerms::*term>
TableCell term_change(const None& /*none*/, const Row& row) {
  return change_cell(row.eq1_after.*term - row.eq1_before.*term);
}
template <Seconds Row::*seconds>
TableCell part_of_step(const None& /*none*/, const Row& row) {
  const Seconds part = row.*seconds;
  return {part.value > 0 ? human_seconds(part) : QString(), part.value};
}
template <std::string Row::*text>
TableCell text_cell(const None& /*none*/, const Row& row) {
  return {QString::fromStdString(row.*text)};
}

constexpr std::array<DifferenceTable::Spec, DifferenceTable::kColumns> kDifferenceColumns = {{
    {"Layer", "", "layer", false,
     [](auto& /*none*/, auto& row) {
       constexpr qlonglong kLast = std::numeric_limits<qlonglong>::max();
       return TableCell{QString::fromStdString(row.layer),
                        row.after ? static_cast<qlonglong>((*row.after)()) : kLast};
     }},
    {"Baseline", "How the baseline cuts it", "cut_before", false, text_cell<&Row::cut_before>},
    {"Now", "How it is cut now", "cut_after", false, text_cell<&Row::cut_after>},
    {"Step",
     "What changes in its time on the critical path. The step times differ by all of these and by "
     "what has no row: waiting, the network's inputs",
     "step_change_seconds", true,
     [](auto& /*none*/, auto& row) {
       return change_cell(row.step_change(),
                          DifferenceTable::tr("On the critical path: %1 before, %2 now")
                              .arg(human_seconds(row.step_before), human_seconds(row.step_after)));
     }},
    {"Eq. 1", "What changes in its terms of Eq. 1: compute, transfers, synchronisation",
     "eq1_change_seconds", true,
     [](auto& /*none*/, auto& row) { return change_cell(row.eq1_change()); }},
    {"Compute", "What changes in t_C of Eq. 1", "compute_change_seconds", true,
     term_change<&LayerTerms::compute>},
    {"Transfer", "What changes in t_X of Eq. 1", "transfer_change_seconds", true,
     term_change<&LayerTerms::transfer>},
    {"Sync", "What changes in t_S of Eq. 1", "sync_change_seconds", true,
     term_change<&LayerTerms::sync>},
    {"Step before", "Its time on the critical path of the baseline's step", "step_before_seconds",
     true, part_of_step<&Row::step_before>},
    {"Step now", "Its time on the critical path of the step", "step_after_seconds", true,
     part_of_step<&Row::step_after>},
}};

}  // namespace

QString signed_seconds(Seconds change) {
  if (std::abs(change.value) < 5e-13) return {};  // a picosecond is rounding
  const QString size = human_seconds({std::abs(change.value)});
  return (change.value > 0 ? QStringLiteral("+") : QStringLiteral("-")) + size;
}

DifferenceTable::DifferenceTable(QObject* parent) : RowTable(kDifferenceColumns, parent) {}

}  // namespace strata::gui
