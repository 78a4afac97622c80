#pragma once

// Everything that the window can do, found by typing a part of its name: Ctrl+Shift+P.

#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <vector>

namespace strata::gui {

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  /// Of the actions with a name; disabled ones are shown grey.
  CommandPalette(const std::vector<QAction*>& actions, QWidget* parent);

  /// Those that are listed now, the best match first.
  std::vector<QAction*> matches() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_matches(const QString& typed);
  void trigger_current();

  std::vector<QAction*> actions_, matches_;
  QLineEdit* typed_;
  QListWidget* list_;
};

/// How well a name matches what was typed: below 0 not at all. Every typed letter must come, in
/// order; matches at the beginnings of words count more.
int match(const QString& name, const QString& typed);
/// "&Save as…" without its mnemonic and dots.
QString plain_name(const QAction& action);

}  // namespace strata::gui
