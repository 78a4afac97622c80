#include "gui/models/scoreboard.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gui/models/search_text.h"
#include "gui/models/text.h"
#include "sim/graph/zoo.h"

namespace strata::gui {
namespace {

// A slider that is dragged makes a case of every value: the oldest ones go.
constexpr std::size_t kMostCases = 500;

bool reads_files(const CaseRequest& input) {
  return !in_zoo(input.model) || input.cluster.ends_with(".toml") || !input.profiles.empty();
}

// The one of the same, else one above the others of its kind.
int number_among(const std::vector<TriedStrategy>& tried, const StrategyChoice& choice) {
  int next = 1;
  for (const TriedStrategy& other : tried) {
    if (other.is_same(choice)) return other.choice.number;
    if (other.choice.kind() == choice.kind()) next = std::max(next, other.choice.number + 1);
  }
  return next;
}

// One that has a number already keeps it, unless another has it.
void put(TriedStrategy strategy, std::vector<TriedStrategy>& among) {
  const int number = number_among(among, strategy.choice);
  const auto same = std::ranges::find_if(
      among, [&](const TriedStrategy& other) { return other.is_same(strategy); });
  strategy.choice.number = same == among.end() ? std::max(number, strategy.choice.number) : number;
  strategy.result.strategy = strategy.choice.label();
  if (same == among.end()) {
    among.push_back(std::move(strategy));
  } else {
    *same = std::move(strategy);
  }
}

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

TableCell step_cell(const TriedStrategy& row) {
  TableCell cell = figure_cell(row, "step_seconds");
  cell.tip = QString::fromStdString(row.trust);
  return cell;
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
     [](auto& /*context*/, auto& row) { return step_cell(row); }},
    {"Over data", "How many times as fast as data parallelism on this very case", "speedup", true,
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

bool TriedStrategy::is_same(const StrategyChoice& other) const {
  return choice.kind() == other.kind() && choice.configs == other.configs;
}

TriedCase tried(const Scene& scene) {
  CaseResult result = result_of(scene.input, scene.prediction);
  result.fits = !shortage(scene.input, scene.prediction.peak_memory);
  const Document& document = scene.document;
  return {document.input, {}, {{document.strategy, std::move(result), text_of(scene.trust)}}};
}

TriedCase tried(const CaseRequest& request, const Case& input, const Solved& solved,
                const StrategyChoice& best, bool bounds_all) {
  TriedCase tried{request};
  const bool of_all = solved.objective == Objective::simulated && bounds_all && !solved.outside;
  if (of_all) tried.lower_bound = solved.lower_bound;
  const auto add = [&](const StrategyChoice& choice, const Scored& scored) {
    if (!scored.simulated()) return;
    tried.strategies.push_back(
        {choice, result_of(input, scored), text_of(trust_of(request, input, scored))});
  };
  for (std::size_t i = 0; i < solved.best.size(); ++i) {
    StrategyChoice choice = best;  // of equal ones the first
    if (i > 0) {
      const auto configs = solved.best[i].strategy.configs();
      choice.configs.assign(configs.begin(), configs.end());
      choice.found = "best";
    }
    add(choice, solved.best[i]);
  }
  for (const Scored& usual : solved.baselines) add({usual.strategy.name()}, usual);
  return tried;
}

void Scoreboard::add(const TriedCase& tried) {
  TriedCase& known = of(tried.input);
  known.lower_bound = std::max(known.lower_bound, tried.lower_bound);
  for (const TriedStrategy& strategy : tried.strategies) put(strategy, known.strategies);
  emit changed();
}

void Scoreboard::remove(const CaseRequest& input, const std::vector<TriedStrategy>& strategies) {
  for (const TriedStrategy& gone : strategies) {
    std::erase_if(of(input).strategies,
                  [&](const TriedStrategy& strategy) { return strategy.is_same(gone); });
  }
  emit changed();
}

void Scoreboard::forget_files() {
  std::erase_if(cases_, [](const TriedCase& one) { return reads_files(one.input); });
  emit changed();
}

const TriedCase* Scoreboard::find(const CaseRequest& input) const {
  const auto found = std::ranges::find(cases_, input, &TriedCase::input);
  return found == cases_.end() ? nullptr : &*found;
}

int Scoreboard::number_of(const CaseRequest& input, const StrategyChoice& choice) const {
  const TriedCase* const tried = find(input);
  return tried == nullptr ? 1 : number_among(tried->strategies, choice);
}

Seconds Scoreboard::lower_bound(const CaseRequest& input) const {
  const TriedCase* const tried = find(input);
  return tried == nullptr ? Seconds{} : tried->lower_bound;
}

TriedCase& Scoreboard::of(const CaseRequest& input) {
  const auto found = std::ranges::find(cases_, input, &TriedCase::input);
  if (found != cases_.end()) return *found;
  if (cases_.size() == kMostCases) cases_.erase(cases_.begin());
  return cases_.emplace_back(TriedCase{input});
}

ScoreTable::ScoreTable(QObject* parent) : RowTable(kScoreColumns, parent) {}

std::optional<int> ScoreTable::chosen_row() const {
  const auto chosen = std::ranges::find(rows_, context_.chosen, &TriedStrategy::choice);
  if (chosen == rows_.end()) return std::nullopt;
  return static_cast<int>(chosen - rows_.begin());
}

}  // namespace strata::gui
