#pragma once

// When everything runs: the devices, what moves between them and the critical path, of the scene
// and beside it of the baseline; or of a trace file.

#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <memory>
#include <optional>
#include <string>

#include "gui/widgets/elided_label.h"
#include "gui/widgets/legend.h"
#include "gui/widgets/timeline/range_panel.h"
#include "gui/widgets/timeline/timeline_canvas.h"
#include "gui/widgets/timeline/timeline_picture.h"
#include "gui/widgets/view.h"
#include "sim/importers/trace/read_trace.h"

namespace strata::gui {

class TimelineView : public View {
  Q_OBJECT

 public:
  explicit TimelineView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  /// The slices that are on the screen.
  QString csv() const override { return csv_later()(); }
  std::function<QString()> csv_later() const override;
  bool has_csv() const override { return canvas_->recording(0) != nullptr; }
  /// A trace; false for files of other kinds. What is wrong with it is said in place.
  bool open(const QString& file) override;

  TimelineCanvas& canvas() const { return *canvas_; }
  QLineEdit& search_field() const { return *search_; }
  const QLabel& status() const { return *status_; }
  const RangePanel& range_panel() const { return *range_panel_; }
  const Legend& legend() const { return *legend_; }
  QString picture_title() const override;
  bool shows_trace() const { return trace_ != nullptr; }

 public slots:
  void show_baseline(bool shown);
  void close_trace();

 protected:
  /// Its bar is for the mouse; in place of that stands what is shown.
  bool shows_scene() const override { return trace_ == nullptr; }
  QWidget& picture() override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// A scene's recording, made once.
  struct Recorded {
    ScenePtr scene;
    RecordingPtr recording;
  };

  QWidget* make_bar();
  void make_links_button();
  void follow();
  void follow_selection();
  void refresh();
  void show_scene(const RecordingPtr& scene, const RecordingPtr& baseline);
  void show_trace(const RecordingPtr& trace);
  void show_kernels(const std::shared_ptr<const Trace>& trace, const QString& file);
  std::string trace_name() const;
  void show_hint();
  void show_name();
  void show_layers();

  void on_picked();
  void select_slice(SliceAddress slice);
  void select_lane(const LaneName& lane, std::uint32_t side);
  void on_row_picked(LaneRow row);
  bool is_current() const;
  void on_range_picked();
  void on_task_changed();
  void on_search(const QString& text);
  void tell(std::optional<SliceAddress> slice);
  void show_range();
  QStringList facts_of(const SliceAddress& slice) const;
  /// What can be done with the slice, which is selected.
  void open_menu(const SliceAddress& slice, QPoint at);

  ElidedLabel* name_;
  QLineEdit* search_;
  QLabel* found_;
  QToolButton* baseline_button_;
  QToolButton* links_button_;
  QToolButton* fold_button_;
  QToolButton* close_button_;
  Legend* legend_;
  TimelineCanvas* canvas_;
  TimelinePicture* picture_;
  RangePanel* range_panel_;
  ElidedLabel* status_;
  Recorded scene_, baseline_;
  RecordingPtr trace_;
  std::shared_ptr<const Trace> kernels_;  ///< of PyTorch, in the place of the baseline
  QString trace_file_;
  std::string trace_model_;             ///< the network that kernels_ stand beside
  std::optional<Document> closed_for_;  ///< what asked for another network: its notice stays
  std::string shown_model_;             ///< of the recordings on the canvas
  bool picking_ = false;                ///< what changes in the selection was picked here
};

}  // namespace strata::gui
