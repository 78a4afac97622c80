#pragma once

// The field of one setting, drawn as its row of the table of settings says (sim/scenario/
// settings.h): a choice is a list, a flag a box to check, a whole number that is always set turns,
// what may be a name or a file is a list that leads to files, and everything else is typed. Its
// editor is called as the setting's key, and its tooltip is the setting's help. Lives in the
// window's thread.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QSpinBox>
#include <QWidget>
#include <string>

#include "gui/models/workspace.h"
#include "sim/scenario/settings.h"

namespace strata::gui {

class SettingField : public QWidget {
  Q_OBJECT

 public:
  explicit SettingField(const SettingSpec& spec, QWidget* parent = nullptr);
  ~SettingField() override;

  const SettingSpec& spec() const { return spec_; }
  /// "Micro batch".
  QString title() const;
  /// What the user acts on; `box()` and `spin()` are null where it is none.
  QWidget* editor() const { return editor_; }
  QComboBox* box() const { return qobject_cast<QComboBox*>(editor_); }
  QSpinBox* spin() const { return qobject_cast<QSpinBox*>(editor_); }

  /// The setting's value, "" where it is not set; `stand_in`: what stands for it in the field,
  /// where that is not its own name.
  void show_value(const std::string& value, const QString& stand_in = {});

  /// Ctrl+Z in a field whose text nobody changed is the window's.
  bool eventFilter(QObject* watched, QEvent* event) override;

 signals:
  /// Chosen or typed, and other than what was shown; empty: not set.
  void committed(const QString& value);
  /// Enter: it is done with.
  void entered();

 private:
  QComboBox* make_box(const QStringList& offered, bool editable);
  QLineEdit* make_line();
  QSpinBox* make_spin();
  QCheckBox* make_check();
  QWidget* make_files();
  QWidget* make_editor();
  void take_from_box(const QString& text);
  void take_files();
  void take(const QString& value);
  QString ask_for_file();

  const SettingSpec& spec_;
  std::string value_;
  QString stand_in_;  ///< for the value, where it is not shown by its own name
  QString shown_;
  QListWidget* files_ = nullptr;
  QWidget* editor_;
};

/// Shows the document's value in the field, and makes what is committed there an edit of it. What
/// names files is looked at in the background first; what is wrong is said and changes nothing.
void tie(SettingField& field, Workspace& workspace);

}  // namespace strata::gui
