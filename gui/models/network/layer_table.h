#pragma once

// A scene's layers as a table: what each is, how it is cut, and what it costs under Eq. 1; those of
// a folded block in one row. Qt's thread.

#include <QPainterPath>
#include <QRectF>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gui/models/network/network_layout.h"
#include "gui/models/network/parts.h"
#include "gui/models/row_table.h"
#include "gui/models/scene.h"

namespace strata::gui {

/// Of what the rows, layers by number, are told.
struct SceneLayers {
  ScenePtr scene;
  std::vector<Bytes> moved = {};   ///< by layer: forward, over all inputs
  std::vector<Bytes> memory = {};  ///< by layer: of the device that keeps the most for it
};

/// A layer, or those of a folded block's repetitions that are alike.
struct LayerRow {
  std::string name;
  std::vector<LayerId> layers;
};

class LayerTable : public RowTable<SceneLayers, LayerRow> {
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

  explicit LayerTable(QObject* parent = nullptr);

  /// `parts`: of its network.
  void set_scene(ScenePtr scene, std::shared_ptr<const Parts> parts);
  const ScenePtr& scene() const { return context_.scene; }

 private:
  std::shared_ptr<const Parts> parts_;  ///< that the rows are of
};

/// By layer: parameters, gradients and activations together, on the device that has most of them.
std::vector<Bytes> memory_by_layer(const Plan& plan, std::size_t layers);

// A network's stretches on one sheet: one below the other, in as many columns, from left to right,
// as give the sheet the shape of the window. Pure functions; in points, y downwards.

/// A stretch to be placed.
struct Stretch {
  DrawingPtr drawing;
  std::uint32_t exit = 0;  ///< the node that the next stretch reads
  bool framed = false;     ///< it is an open block
};

struct PlacedStretch {
  std::vector<QRectF> nodes;
  std::vector<QPainterPath> curves;  ///< by edge of the sketch
  QRectF frame;                      ///< around all nodes; empty where it has none
};

struct Sheet {
  std::vector<PlacedStretch> stretches;
  std::vector<QPainterPath> connectors;  ///< from a column's foot to the next one's head
  QRectF bounds;
  std::size_t columns = 0;
};

/// `aspect`: the window's width by its height.
Sheet place(std::span<const Stretch> stretches, double aspect);

}  // namespace strata::gui
