#pragma once

// All keys on one page: the window's and each view's. Opened by `?`.

#include <QAction>
#include <QDialog>
#include <vector>

#include "gui/widgets/view.h"

namespace strata::gui {

class KeyList : public QDialog {
  Q_OBJECT

 public:
  KeyList(const std::vector<QAction*>& actions, const std::vector<View*>& views, QWidget* parent);
};

}  // namespace strata::gui
