#include "gui/models/scoreboard/score_table.h"

#include <array>

#include "gui/models/search_text.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

Seconds step_of(const TriedStrategy& row) {
  return Seconds{row.result.step_seconds.value_or(0)};
}

// By a column of the results that every printer has.
TableCell figure_cell(const TriedStrategy& row, std::string_view key) {
  const ColumnSpec& figure = column(key);
  const std::optional<double> number = number_in(field_of(figure, row.result));
  if (!number) return {};
  const bool whole = type_of(figure) == ColumnType::integer;
  return {in_symbols(text_of(figure, row.result)),
          whole ? QVariant(static_cast<qlonglong>(*number)) : QVariant(*number)};
}

TableCell strategy_cell(const ScoreContext& context, const TriedStrategy& row) {
  const QString name = row.name();
  return {row.choice == context.chosen ? ScoreTable::tr("%1  (chosen)").arg(name) : name,
          name,
          {},
          {},
          name};
}

TableCell speedup_cell(const ScoreContext& context, const TriedStrategy& row) {
  if (!context.baseline) return {};
  const double times = *context.baseline / step_of(row);
  return {QString::number(times, 'f', times < 10 ? 2 : 1) + QStringLiteral("×"), times};
}

TableCell gap_cell(const ScoreContext& context, const TriedStrategy& row) {
  const std::optional<double> gap = gap_to(context.lower_bound, step_of(row));
  if (!gap) return {};
  return {*gap == 0 ? ScoreTable::tr("none") : gap_share(*gap), *gap,
          gap_text(context.lower_bound, step_of(row))};
}

TableCell fits_cell(const ScoreContext& /*context*/, const TriedStrategy& row) {
  const bool fits = row.result.fits.value_or(true);
  return {fits ? ScoreTable::tr("yes") : ScoreTable::tr("no"),
          {},
          {},
          {},
          fits ? QStringLiteral("1") : QStringLiteral("0")};
}

constexpr std::array<ScoreTable::Spec, ScoreTable::kColumns> kScoreColumns = {{
    {"Strategy", "A click or Enter takes it", "strategy", false, strategy_cell},
    {"Step", "The simulated step, in which devices compute while bytes move", "step_seconds", true,
     [](auto& /*context*/, auto& row) { return figure_cell(row, "step_seconds"); }},
    {"Speed-up", "How many times as fast as data parallelism on this very case", "speedup", true,
     speedup_cell},
    {"Gap",
     "How much less a step of the fastest strategy takes at most, by what devices compute and wait "
     "for in any case. Find fastest proves it",
     "gap", true, gap_cell},
    {"Memory", "What the fullest device needs at its peak", "peak_memory_bytes", true,
     [](auto& /*context*/, auto& row) { return figure_cell(row, "peak_memory_bytes"); }},
    {"Fits", "Whether every device has the memory that it needs", "fits", false, fits_cell},
    {"Eq. 1", "The paper's cost of a step, in which nothing overlaps", "eq1_seconds", true,
     [](auto& /*context*/, auto& row) { return figure_cell(row, "eq1_seconds"); }},
    {"Communication", "What all devices send in a step", "comm_bytes", true,
     [](auto& /*context*/, auto& row) { return figure_cell(row, "comm_bytes"); }},
}};

}  // namespace

ScoreTable::ScoreTable(QObject* parent) : RowTable(kScoreColumns, parent) {}

std::optional<int> ScoreTable::chosen_row() const {
  const auto chosen = std::ranges::find(rows_, context_.chosen, &TriedStrategy::choice);
  if (chosen == rows_.end()) return std::nullopt;
  return static_cast<int>(chosen - rows_.begin());
}

}  // namespace strata::gui
