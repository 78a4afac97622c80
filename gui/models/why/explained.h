#pragma once

// Why a scene's step takes its time, and why one of its layers is cut as it is: the answers of
// sim/explain/, and beside a layer's what the strategy would keep in memory with each config.
// Made in a job; thread-safe.

#include <atomic>
#include <memory>
#include <vector>

#include "gui/models/row_table.h"
#include "gui/models/scene.h"
#include "sim/explain/choices.h"
#include "sim/explain/story.h"

namespace strata::gui {

struct Explained {
  ScenePtr scene;
  LayerId layer;
  Explanation explanation;
  /// By choice: what the fullest device keeps at least, all other layers being as they are. The
  /// peak of a simulated step, which has the tensors in flight, too, is in the choice.
  std::vector<Bytes> kept;
  Bytes capacity;           ///< of the smallest device
  Bytes capacity_of_floor;  ///< of the device that keeps so much at least
};
using ExplainedPtr = std::shared_ptr<const Explained>;

/// Precondition: `layer` is not a network input. Throws Cancelled once the flag is set.
ExplainedPtr explained(const ScenePtr& scene, LayerId layer,
                       const std::atomic<bool>* cancelled = nullptr);

struct Told {
  ScenePtr scene;
  Story story;
};
using ToldPtr = std::shared_ptr<const Told>;

/// Throws Cancelled once the flag is set.
ToldPtr told(const ScenePtr& scene, const std::atomic<bool>* cancelled = nullptr);

// An Explanation as a table: every config that a layer could have, what it would cost among the
// neighbours that it has, and what insisting on it would cost. Qt's thread.

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
