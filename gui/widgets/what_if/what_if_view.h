#pragma once

// What if the network were twice as fast, a device half as fast, the batch larger? Sliders over the
// document's numbers, the numbers that come of them, the curve over the range of the slider at
// hand, and a field for every other what-if. All other views follow while a slider is dragged.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <map>
#include <string>
#include <vector>

#include "gui/models/what_if/knobs.h"
#include "gui/widgets/view.h"
#include "gui/widgets/what_if/knob_row.h"
#include "gui/widgets/what_if/number_tiles.h"
#include "gui/widgets/what_if/other_what_ifs_panel.h"

namespace strata::gui {

class WhatIfView : public View {
  Q_OBJECT

 public:
  explicit WhatIfView(Workspace& workspace, QWidget* parent = nullptr);
  ~WhatIfView() override;

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override;

  /// By a what-if's key, or "batch", "hosts", "devices"; null where there is none.
  KnobRow* row(const std::string& key) const;

 public slots:
  void pin_baseline();
  void reset_all();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* make_bar();
  QWidget* make_overlap();
  QWidget* make_knobs();
  void leave_room_for_bar(bool has_bar);
  void follow();
  void on_document();
  void on_scene();
  void show_emptiness();
  void show_numbers();
  void show_baseline();
  void show_values();

  void make_rows();
  KnobRow* make_row(const Knob& knob);
  void arrange_rows();
  void fill_layers();
  void pick_layer();
  bool dragging() const;

  void turn(KnobRow& row, double value, bool continues);
  void take(KnobRow& row, const QString& text);
  void activate(KnobRow& row);
  void want_curve();
  void compute_curve(int round);
  void add_to_curve(const Knob& knob, const Document& base, const std::vector<CurvePoint>& points,
                    int round);
  void show_curve();

  QLabel* against_;
  NumberTiles* tiles_;
  QScrollArea* scroll_;
  QVBoxLayout* list_;
  std::map<std::string, QVBoxLayout*> groups_;  ///< by name
  std::map<std::string, QLabel*> headings_;     ///< of those
  QCheckBox* overlap_;
  QComboBox* layer_;
  OtherWhatIfsPanel* others_;
  std::vector<KnobRow*> rows_;
  std::vector<double> history_;
  std::pair<std::string, std::string> history_of_;  ///< network and cluster, without what-ifs

  KnobRow* active_ = nullptr;  ///< whose curve is shown
  KnobRow* last_ = nullptr;    ///< that was turned last
  Document curve_base_;        ///< of the curve, its knob being as usual
  std::vector<CurvePoint> curve_;
};

}  // namespace strata::gui
