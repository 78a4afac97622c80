#pragma once

// Two scenes beside each other: which layers are cut otherwise, and what each costs on both sides.
// Layers are the same where their names are, also in networks that differ. Pure functions;
// thread-safe.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gui/models/row_table.h"
#include "gui/models/scene.h"

namespace strata::gui {

struct LayerDifference {
  std::string layer;
  std::optional<LayerId> before, after;  ///< its number on each side; nothing where it is not there
  std::string cut_before, cut_after;     ///< "n=4 c=2"
  LayerTerms eq1_before, eq1_after;
  Seconds step_before, step_after;  ///< its part of the step: its time on the critical path
  bool recut = false;               ///< the cut or its devices are others

  Seconds eq1_change() const { return eq1_after.total() - eq1_before.total(); }
  Seconds step_change() const { return step_after - step_before; }
  /// It is cut otherwise, or costs otherwise: more than rounding is.
  bool changed() const;
};

/// All layers but the network's inputs, in the order of `after`, then those that only `before` has.
std::vector<LayerDifference> layer_differences(const Scene& before, const Scene& after);
/// Those of them that changed.
std::vector<LayerDifference> changed_layers(const Scene& before, const Scene& after);

/// The layers of the other scene that have these names.
std::vector<LayerId> same_layers(const Scene& from, const std::vector<LayerId>& layers,
                                 const Scene& to);
/// For people: what besides the strategy differs (network, cluster, what-ifs, options); empty
/// where nothing does.
std::string other_case(const Scene& before, const Scene& after);

/// The document of `to` with these layers cut as `from` cuts them: its strategy is edited, and
/// no longer one that a search found. Layers that `from` does not have stay.
Document with_cuts_of(const Scene& from, const Scene& to, const std::vector<std::string>& layers);

// The layers that two scenes cut or pay for otherwise, as a table: cuts on both sides, what changes
// under Eq. 1, and each side's time on the critical path of a step. However it is sorted, layers
// that did not change come last.

class DifferenceTable : public RowTable<std::monostate, LayerDifference> {
  Q_OBJECT

 public:
  enum Column {
    layer,
    cut_before,
    cut_after,
    step,
    eq1,
    compute,
    transfer,
    sync,
    step_before,
    step_after,
    kColumns
  };
  /// Where a cell holds a change: its seconds, as a double.
  static constexpr int kChangeRole = detail;

  explicit DifferenceTable(QObject* parent = nullptr);

  void show(std::vector<LayerDifference> rows) { RowTable::show({}, std::move(rows)); }

 protected:
  int group_of(const LayerDifference& row) const override { return row.changed() ? 0 : 1; }
};

/// "+3.1 ms", "-12 us", "" for none.
QString signed_seconds(Seconds change);

}  // namespace strata::gui
