#pragma once

// The network's graph as it is shown: which parts are open, what they show of the scene, and where
// they lie. Follows the workspace; pictures and layouts are made in a job, and the old ones stay
// until the new are there. Lives in the window's thread.

#include <QObject>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/network/layer_table.h"
#include "gui/models/network/network_nodes.h"
#include "gui/models/workspace.h"

namespace strata::gui {

class NetworkMap : public QObject {
  Q_OBJECT

 public:
  explicit NetworkMap(Workspace& workspace, QObject* parent = nullptr);

  /// Of the picture that is shown; null before the first.
  const ScenePtr& scene() const { return shown_.scene; }
  const Parts& parts() const { return *shown_.parts; }
  const NetworkPicture& picture() const { return shown_.picture; }
  const Sheet& sheet() const { return sheet_; }
  /// The frames of open blocks, with their parts.
  std::vector<std::pair<QRectF, std::size_t>> frames() const;
  QRectF rect(std::size_t node) const { return rects_[node]; }
  const QPainterPath& curve(std::size_t edge) const { return curves_[edge]; }

  /// Of the newest scene, whose picture may not be there yet.
  const std::shared_ptr<const Parts>& newest_parts() const { return parts_; }

  /// What is shown is of the workspace's network, not of the one before: its layers may be named.
  bool current() const { return shown_.parts == parts_; }

  void set_aspect(double width_by_height);
  /// Opens a part into what it holds; shuts the one that holds it.
  void open(std::size_t part);
  void shut(std::size_t part);
  void set_open(OpenParts open);
  /// Blocks that repeat stand once, which is how it begins.
  bool folds() const { return folds_; }
  void set_folds(bool folds);
  /// Whether any block repeats.
  bool can_fold() const { return can_fold_; }
  /// Whatever hides these layers opens.
  void reveal(const std::vector<LayerId>& layers);

  std::vector<LayerId> layers_of(const std::vector<std::size_t>& nodes) const;
  std::optional<std::size_t> node_of(LayerId layer) const;
  /// All its layers are selected; some of them are.
  bool selected(std::size_t node) const;
  bool touched(std::size_t node) const;
  /// Those whose name, op, config or layers' names hold this text.
  std::vector<std::size_t> find(const QString& text) const;

 signals:
  void changed();  ///< what is shown, or where
  /// Nodes have other numbers or places: other parts are open, or it is another network.
  void rearranged(bool other_network);
  void selection_changed();
  void failed(const QString& message);

 private:
  struct Shown {
    ScenePtr scene;
    std::shared_ptr<const Parts> parts = std::make_shared<Parts>();
    OpenParts open;
    NetworkPicture picture;
    std::vector<PictureStretch> stretches;
    std::vector<Stretch> laid;
  };
  static Shown show(const ScenePtr& scene, std::shared_ptr<const Parts> parts, OpenParts open,
                    Drawings& drawings);
  void follow_scene();
  void divide();
  void show_again();
  void adopt(Shown shown);
  void arrange();

  Workspace& workspace_;
  std::shared_ptr<Drawings> drawings_ = std::make_shared<Drawings>();
  std::shared_ptr<const Parts> parts_ = std::make_shared<Parts>();  ///< of the newest scene
  Graph graph_;
  OpenParts open_;
  bool folds_ = true, can_fold_ = false;
  double aspect_ = 1.6;
  Shown shown_;
  Sheet sheet_;
  std::vector<QRectF> rects_;
  std::vector<QPainterPath> curves_;
};

}  // namespace strata::gui
