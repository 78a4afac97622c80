#pragma once

// What all views of the window have in common: a place among the docks, export, the command that
// shows the same on a command line, help on their keys, and notices in place of dialogs.

#include <QKeySequence>
#include <QLabel>
#include <QString>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "gui/models/workspace.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

struct KeyHelp {
  QString keys, what;
};

/// The name of a file that is to be written as `chosen`, one of the formats of which `offered` was
/// proposed. A name that has none gets it, and one that still ends as proposed has it changed; a
/// format that somebody wrote stays.
QString named_as(const QString& chosen, const QString& file, const QString& offered);

/// What stands in a widget from top to bottom, without margins.
QVBoxLayout* make_column(QWidget* widget);
/// A flat button that stays pressed, and leaves the focus where it is.
QToolButton* make_toggle(const QString& text, const QString& tip, bool on);

class View : public QWidget {
  Q_OBJECT

 public:
  /// `id`: a word that layouts are remembered by.
  View(const QString& id, const QString& title, Workspace& workspace, QWidget* parent = nullptr);

  const QString& id() const { return id_; }
  const QString& title() const { return title_; }

  /// `strata ...` that prints what is shown; empty where no command does.
  virtual QString command() const { return {}; }
  /// Why none does, where that is worth a word.
  virtual QString why_no_command() const { return {}; }
  virtual std::vector<KeyHelp> keys() const { return {}; }
  /// What is shown as comma-separated values with a first line of names; empty where it has none.
  virtual QString csv() const { return {}; }
  /// csv() of what is shown now, made when it is called, by any thread: where the text is long.
  virtual std::function<QString()> csv_later() const {
    return [text = csv()] { return text; };
  }
  /// Whether csv() has anything: asked whenever a menu opens, so cheaper where the text is long.
  virtual bool has_csv() const { return !csv().isEmpty(); }
  /// A file that was dropped on this view, or opened with it in front; whether it took it. Where it
  /// can be read opened() says so, at once or later.
  virtual bool open(const QString& /*file*/) { return false; }

  /// By the file's suffix: png (at twice the size), svg or csv. Written whole or not at all. Throws
  /// InputError, EnvironmentError.
  void export_to(const QString& file);
  /// The same in two parts: what is shown now, to be written later, by any thread.
  std::function<void()> exported(const QString& file);
  QStringList formats() const;
  /// The line above exported pictures: the case, its strategy and its step; empty where none is
  /// shown.
  virtual QString picture_title() const;

  /// Whether anybody can see it, which the window knows: Qt holds a dock behind others for visible.
  void set_seen(bool seen);
  bool is_seen() const { return seen_; }

  /// What it shows is another case's: it is being predicted, or cannot be.
  bool is_dimmed() const { return !veil_->isHidden(); }

  /// Marked as the one that is exported and copied.
  void set_active(bool active);

  /// A line over the foot of the view, until the next one or an empty text.
  void notify(const QString& text);
  /// Of what notices and errors leave in view.
  int foot_height() const { return foot_ != nullptr && foot_->isVisible() ? foot_->height() : 0; }
  /// With the notice above that.
  int covered_height() const {
    return foot_height() + (notice_->isVisible() ? notice_->height() : 0);
  }
  QString notice() const { return notice_->text(); }
  /// What stands in the place of the content; empty where the content does.
  QString instead() const { return instead_->text(); }

 signals:
  void noticed();  ///< there is another notice, or none
  /// What open() took is there: it could be read.
  void opened(const QString& file);
  /// By the user, for the window to open: in the background, whatever is in it.
  void file_chosen(const QString& file);
  /// Come to the front: what was asked for elsewhere is shown here.
  void wanted();

 protected:
  /// Whether it shows what is predicted of the document: it is dimmed while that is not known.
  virtual bool shows_scene() const { return true; }
  /// What pictures are made of: all, or the part that is not there for the mouse.
  virtual QWidget& picture() { return content_ != nullptr ? *content_ : *this; }
  Workspace& workspace() const { return workspace_; }
  Selection& selection() const { return workspace_.selection(); }
  Theme theme() const { return theme_of(palette()); }
  /// Does it now, or when the view is next seen: what nobody sees is not worked out. One thing
  /// takes the place of what waited before.
  void when_seen(std::function<void()> what);
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  /// While `where` (this, unless said otherwise) or what stands in it has the focus.
  void add_key(const QKeySequence& keys, const std::function<void()>& action,
               QWidget* where = nullptr,
               Qt::ShortcutContext context = Qt::WidgetWithChildrenShortcut);
  /// `strata predict` of the case that stands, with further options; empty where none does.
  QString predict_command(const std::string& options = {}) const;
  void set_content(QWidget* content);
  /// A line of the content at the foot of the view, with what is read or pressed there.
  void set_foot(const QWidget* foot) { foot_ = foot; }
  QWidget* content() const { return content_; }
  /// A text in the place of the content, until an empty one: there is nothing that it could show.
  void show_instead(const QString& text);

 private:
  void show_dimmed();

  QString id_, title_;
  Workspace& workspace_;
  QWidget* mark_;  // of the active view
  QLabel* instead_;
  Banner* notice_;
  const QWidget* foot_ = nullptr;
  QWidget* veil_;  // over the content while it is dimmed
  QWidget* content_ = nullptr;
  QWidget* room_ = nullptr;  // that the content stands in
  bool seen_ = true;
  std::function<void()> waiting_;  // to be seen
};

}  // namespace strata::gui
