#pragma once

// What is on the desk, in one line of fields: network, cluster, batch, synchronisation, its
// buckets, number type, strategy, and behind a button the settings that are asked for less often.
// Each field is drawn from the table of settings (setting_field.h), and is an edit that can be
// undone. What comes of it: answer_bar.h.

#include <QHBoxLayout>
#include <QLabel>
#include <QToolBar>
#include <string_view>
#include <vector>

#include "gui/models/workspace.h"
#include "gui/widgets/fields/setting_field.h"
#include "gui/widgets/fields/settings_panel.h"

namespace strata::gui {

class CaseBar : public QToolBar {
  Q_OBJECT

 public:
  explicit CaseBar(Workspace& workspace, QWidget* parent = nullptr);

  QSize minimumSizeHint() const override;
  /// Into a field, by the keyboard.
  /// With its text selected: what is typed takes its place.
  void focus_model();

 signals:
  /// Enter in a field: it is done with.
  void entered();
  /// Where nothing is on the desk.
  void file_wanted();
  void example_wanted();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void make_nothing();
  void add_field(std::string_view key, const QString& label, int letters);
  SettingField& field(std::string_view key) const;
  void fit();
  int least_width() const;
  void show_document();
  void show_batch();

  Workspace& workspace_;
  QWidget* row_;
  QHBoxLayout* line_;
  std::vector<SettingField*> bar_fields_;
  std::vector<QLabel*> labels_;
  SettingsButton* more_;
  QAction *fields_ = nullptr, *nothing_ = nullptr;
};

}  // namespace strata::gui
