#pragma once

// What differs from the network and the cluster as their names give them: each what-if is a button
// that takes it back. A line of one height, with or without any, so that what is below stays where
// it is.

#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <vector>

#include "gui/models/workspace.h"

namespace strata::gui {

class WhatIfBar : public QWidget {
  Q_OBJECT

 public:
  explicit WhatIfBar(Workspace& workspace, QWidget* parent = nullptr);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void show_document();
  void add_chip(const QString& text, const Document& without);
  void fit();

  Workspace& workspace_;
  QLabel* none_;
  QToolButton *more_, *reset_;
  std::vector<QToolButton*> chips_;
};

}  // namespace strata::gui
