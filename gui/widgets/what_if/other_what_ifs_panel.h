#pragma once

// Every what-if of the command line's --set, drawn from their table (sim/case/what_ifs.h): a list
// of keys, what the key selects, and a value, each with what may stand there. It is looked at as
// --set is, and what is wrong is said in the same words. Lives in the window's thread.

#include <QComboBox>
#include <QPushButton>
#include <QWidget>
#include <string>

#include "gui/models/what_if/other_what_ifs.h"
#include "gui/models/workspace.h"

namespace strata::gui {

class OtherWhatIfsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit OtherWhatIfsPanel(Workspace& workspace, QWidget* parent = nullptr);

  /// Of the scene's case: what its selectors may be.
  void show_case();
  /// The values that the document has.
  void show_value();

 signals:
  void failed(const QString& message);

 private:
  const WhatIfSpec& what_if() const;
  std::string key() const;
  void pick();
  void set();

  Workspace& workspace_;
  QComboBox *key_, *selector_, *value_;
  QPushButton* set_;
};

}  // namespace strata::gui
