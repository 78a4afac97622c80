#pragma once

// What is asked for less often, behind a button at the end of the case's line: the optimizer, what
// replicas share of its state (ZeRO), how the batch is cut in time, in which order stages compute,
// what is computed again. Each field is an edit that can be undone. The button says how many of
// them are not as usual.

#include <QComboBox>
#include <QFrame>
#include <QLineEdit>
#include <QToolButton>
#include <functional>
#include <string>

#include "gui/models/workspace.h"

namespace strata::gui {

class MoreFields : public QToolButton {
  Q_OBJECT

 public:
  explicit MoreFields(Workspace& workspace, QWidget* parent = nullptr);

  /// Below the button, until a click beside it, or Esc.
  void open();

 signals:
  /// Its text is another.
  void resized();

 private:
  QComboBox* choice(const QString& label, const char* key, const QStringList& choices);
  void show_document();
  void commit_micro_batch();
  void commit_schedule(const QString& text);
  void commit(const QString& what, const std::function<void(CaseRequest&)>& change);
  void fail(const QString& message);

  Workspace& workspace_;
  QFrame* panel_;
  QComboBox *optimizer_, *zero_, *offload_, *schedule_, *recompute_;
  QLineEdit* micro_batch_;
};

}  // namespace strata::gui
