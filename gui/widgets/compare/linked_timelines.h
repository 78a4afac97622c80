#pragma once

// Two timelines, one above the other, that show the same stretch of time: the baseline's and the
// scene's. They are as the Timeline view is, and are filled when they are seen. Both follow the one
// selection, the baseline's by the layers' names.

#include <QLabel>
#include <QWidget>

#include "gui/models/workspace.h"
#include "gui/widgets/timeline/timeline_canvas.h"

namespace strata::gui {

class LinkedTimelines : public QWidget {
  Q_OBJECT

 public:
  explicit LinkedTimelines(Workspace& workspace, QWidget* parent = nullptr);

  TimelineCanvas& upper() { return *upper_; }
  TimelineCanvas& lower() { return *lower_; }
  /// Shows the workspace's baseline and scene, if somebody can see them.
  void refresh();

 signals:
  void failed(const QString& message);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  TimelineCanvas* make_side(const QString& hint, QLabel*& name);
  void link(TimelineCanvas* from, TimelineCanvas* to);
  void show_sides(const ScenePtr& before, const ScenePtr& after, const RecordingPtr& upper,
                  const RecordingPtr& lower);
  void show_layers();
  /// What the user picked in one of them, which `scene` is in.
  void pick(const TimelineCanvas& canvas, const ScenePtr& scene);

  Workspace& workspace_;
  QLabel* upper_name_ = nullptr;
  QLabel* lower_name_ = nullptr;
  TimelineCanvas* upper_;
  TimelineCanvas* lower_;
  ScenePtr before_, after_;  ///< that are shown
};

}  // namespace strata::gui
