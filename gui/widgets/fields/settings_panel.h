#pragma once

// A button below which the fields of some settings pop up, group by group. It says how many of them
// are not as usual, and its tooltip says which, as options of the command line. Lives in the
// window's thread.

#include <QFrame>
#include <QToolButton>
#include <string_view>
#include <vector>

#include "gui/models/workspace.h"

namespace strata::gui {

class SettingsButton : public QToolButton {
  Q_OBJECT

 public:
  struct Group {
    QString title;
    std::vector<std::string_view> keys;
  };

  /// `name`: the button's; its panel's is "NAME_fields". `text`: what it says; `tip`: what is
  /// below.
  SettingsButton(Workspace& workspace, const QString& name, const QString& text, const QString& tip,
                 const std::vector<Group>& groups, QWidget* parent = nullptr);

  /// Below the button, until a click beside it, or Esc.
  void open();

 signals:
  /// Its text is another.
  void resized();

 private:
  void add_group(const Group& group);
  void show_document();

  Workspace& workspace_;
  QFrame* panel_;
  QString text_, tip_;
  std::vector<std::string_view> keys_;
  QWidget* first_ = nullptr;  ///< which gets the focus
};

}  // namespace strata::gui
