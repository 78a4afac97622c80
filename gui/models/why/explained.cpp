#include "gui/models/why/explained.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "gui/models/text.h"
#include "sim/search/memory_floor.h"

namespace strata::gui {
namespace {

// The other layers as the strategy cuts them; those whose cut no search knows are left out, so that
// what is said stays a least.
std::vector<Bytes> memory_by_choice(const Case& input, const Strategy& strategy, LayerId layer,
                                    const SearchOptions& options) {
  SearchSpace space(input.graph, input.cluster, options);
  const std::uint32_t asked = *space.variable_of(layer);
  std::vector<bool> known(space.size(), true);
  for (std::uint32_t v = 0; v < space.size(); ++v) {
    if (v == asked) continue;
    const std::optional<Cut> cut = space.choice_for(space[v].leader, strategy[space[v].leader]);
    known[v] = cut.has_value();
    if (cut) space = space.fixed(v, *cut);
  }
  const auto floor = memory_floor(input, space);
  std::int64_t others = 0;
  for (std::uint32_t v = 0; v < space.size(); ++v) {
    if (v != asked && known[v]) others += floor[v].front();
  }
  std::vector<Bytes> memory;
  for (const std::int64_t own : floor[asked]) memory.push_back(Bytes{others + own});
  return memory;
}

SolveLimits limits_of(const std::atomic<bool>* cancelled) {
  SolveLimits limits;
  limits.cancelled = cancelled;
  return limits;
}

// Bars are drawn to the length of the dearest choice that is not absurd.
constexpr double kAbsurd = 6;

bool is_chosen(const Explained& explained, std::size_t choice) {
  return explained.explanation.chosen == choice;
}
const ChoiceCosts& costs_of(const ExplainedPtr& explained, std::size_t choice) {
  return explained->explanation.choices[choice];
}

TableCell config_cell(const ExplainedPtr& explained, const std::size_t& choice) {
  return {human_config(explained->scene->input.graph, explained->layer,
                       costs_of(explained, choice).config) +
          (is_chosen(*explained, choice) ? ChoiceTable::tr("  (chosen)") : QString())};
}

// What was not simulated comes last.
TableCell step_cell(const ExplainedPtr& explained, const std::size_t& choice) {
  const Seconds step = costs_of(explained, choice).step;
  if (step <= Seconds{}) {
    return {QStringLiteral("-"), kInfinity,
            ChoiceTable::tr("Not simulated: many other cuts cost less")};
  }
  return {human_seconds(step), step.value};
}

TableCell bar_cell(const ExplainedPtr& explained, const std::size_t& choice) {
  const ChoiceCosts& costs = costs_of(explained, choice);
  return {{},
          costs.total().value,
          ChoiceTable::tr("compute %1, transfer in %2, transfer out %3, sync %4")
              .arg(human_seconds(costs.compute), human_seconds(costs.transfer_in),
                   human_seconds(costs.transfer_out), human_seconds(costs.sync))};
}

TableCell regret_cell(const ExplainedPtr& explained, const std::size_t& choice) {
  const Seconds regret = costs_of(explained, choice).regret;
  return {regret.value <= 0 ? ChoiceTable::tr("none") : QLatin1Char('+') + human_seconds(regret),
          regret.value};
}

TableCell binding_cell(const ExplainedPtr& explained, const std::size_t& choice) {
  const ChoiceCosts& costs = costs_of(explained, choice);
  if (!costs.binding.valid()) return {{}, costs.binding_transfer.value};
  const std::string& layer = explained->scene->input.graph[costs.binding].name;
  return {QString::fromStdString(layer), costs.binding_transfer.value,
          ChoiceTable::tr("Its transfer takes %1").arg(human_seconds(costs.binding_transfer))};
}

// Of what was not simulated it is known what it keeps at least.
TableCell memory_cell(const ExplainedPtr& explained, const std::size_t& choice) {
  const ChoiceCosts& costs = costs_of(explained, choice);
  const bool simulated = costs.peak_memory > Bytes{};
  const Bytes memory = simulated ? costs.peak_memory : explained->kept[choice];
  TableCell cell{human_bytes(memory), static_cast<qlonglong>(memory.value)};
  if (!simulated) {
    cell.text.prepend(QStringLiteral("≥ "));
    cell.tip = ChoiceTable::tr("Not simulated: its weights and activations take this at least");
  }
  if (simulated ? !costs.fits : memory > explained->capacity_of_floor) {
    cell.text += ChoiceTable::tr(" does not fit");
    cell.tip =
        simulated
            ? ChoiceTable::tr("The smallest device has %1").arg(human_bytes(explained->capacity))
            : ChoiceTable::tr("The first device has %1")
                  .arg(human_bytes(explained->capacity_of_floor));
  }
  return cell;
}

constexpr std::array<ChoiceTable::Spec, ChoiceTable::column_count> kChoiceColumns = {{
    {"cut", "in how many parts each dim is cut", "", false, config_cell},
    {"step", "simulated, all other layers being as they are", "", true, step_cell},
    {"costs",
     "compute, transfer in and out, sync: Eq. 1 of this layer and those that share its cut, the "
     "neighbours being as they are",
     "", false, bar_cell},
    {"sum", "the four together", "", true,
     [](auto& explained, auto& choice) {
       const Seconds total = costs_of(explained, choice).total();
       return TableCell{human_seconds(total), total.value};
     }},
    {"regret", "how much longer a step takes under Eq. 1, all other layers chosen anew", "", true,
     regret_cell},
    {"neighbour", "the one with the largest transfer, by which this column is sorted", "", false,
     binding_cell},
    {"peak memory",
     "what the fullest device needs at its peak in the simulated step, all other layers being as "
     "they are; ≥: what it keeps at least",
     "", true, memory_cell},
}};

Seconds longest_of(const Explanation& explanation) {
  Seconds least{1e300}, longest;
  for (const ChoiceCosts& costs : explanation.choices) least = std::min(least, costs.total());
  for (const ChoiceCosts& costs : explanation.choices) {
    if (costs.total() <= kAbsurd * least) longest = std::max(longest, costs.total());
  }
  return longest;
}

}  // namespace

ExplainedPtr explained(const ScenePtr& scene, LayerId layer, const std::atomic<bool>* cancelled) {
  const Strategy& strategy = scene->prediction.strategy;
  const SearchOptions& space = scene->document.search.space;
  return std::make_shared<const Explained>(
      Explained{scene, layer, explain(scene->input, space, strategy, layer, limits_of(cancelled)),
                memory_by_choice(scene->input, strategy, layer, space),
                least_memory_capacity(scene->input), capacity_of_floor(scene->input)});
}

ToldPtr told(const ScenePtr& scene, const std::atomic<bool>* cancelled) {
  return std::make_shared<const Told>(
      Told{scene, tell(scene->input, scene->document.input, scene->document.search.space,
                       scene->prediction.strategy, limits_of(cancelled))});
}

ChoiceTable::ChoiceTable(QObject* parent) : RowTable(kChoiceColumns, parent) {}

void ChoiceTable::set_explained(ExplainedPtr explained) {
  longest_ = explained ? longest_of(explained->explanation) : Seconds();
  std::vector<std::size_t> choices(explained ? explained->explanation.choices.size() : 0);
  std::iota(choices.begin(), choices.end(), std::size_t{0});
  show(std::move(explained), std::move(choices));
}

QString ChoiceTable::csv() const {
  QString text = QStringLiteral(
      "config,step_seconds,compute_seconds,transfer_in_seconds,transfer_out_seconds,sync_seconds,"
      "regret_seconds,binding_layer,binding_seconds,peak_memory_bytes,least_memory_bytes,chosen\n");
  for (const std::size_t choice : rows_) {
    const ChoiceCosts& costs = costs_of(context_, choice);
    QStringList fields{QString::fromStdString(config_text(costs.config))};
    fields << (costs.step > Seconds{} ? QString::number(costs.step.value, 'g', 9) : QString());
    for (const Seconds seconds :
         {costs.compute, costs.transfer_in, costs.transfer_out, costs.sync, costs.regret}) {
      fields << QString::number(seconds.value, 'g', 9);
    }
    fields << (costs.binding.valid()
                   ? QString::fromStdString(context_->scene->input.graph[costs.binding].name)
                   : QString());
    fields << QString::number(costs.binding_transfer.value, 'g', 9);
    fields << (costs.peak_memory > Bytes{} ? QString::number(costs.peak_memory.value) : QString());
    fields << QString::number(context_->kept[choice].value);
    fields << (is_chosen(*context_, choice) ? QStringLiteral("1") : QStringLiteral("0"));
    text += csv_line(fields);
  }
  return text;
}

}  // namespace strata::gui
