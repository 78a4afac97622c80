#pragma once

// A scene's layers as a table: what each is, how it is cut, and what it costs under Eq. 1. Cells
// are texts for people ("1.2 ms"); the numbers behind them have the role `plain`. Qt's thread.

#include <vector>

#include "gui/models/headed_table.h"
#include "gui/models/scene.h"

namespace strata::gui {

class LayerTable : public HeadedTable {
  Q_OBJECT

 public:
  enum Column : std::uint8_t {
    name_column,
    op_column,
    output_column,
    config_column,
    compute_column,
    transfer_column,
    sync_column,
    bytes_column,
    memory_column,
    column_count
  };
  /// What is sorted by, and written to CSV: SI numbers, or text.
  static constexpr int plain = Qt::UserRole;

  explicit LayerTable(QObject* parent = nullptr);

  void set_scene(ScenePtr scene);
  const ScenePtr& scene() const { return scene_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

  QString csv() const;

 private:
  QVariant plain_data(LayerId layer, int column) const;
  QString text(LayerId layer, int column) const;

  ScenePtr scene_;
  std::vector<Bytes> moved_;   ///< by layer: forward, over all inputs
  std::vector<Bytes> memory_;  ///< by layer: of the device that keeps the most for it
};

/// By layer: parameters, gradients and activations together, on the device that has most of them.
std::vector<Bytes> memory_by_layer(const Plan& plan, std::size_t layers);

}  // namespace strata::gui
