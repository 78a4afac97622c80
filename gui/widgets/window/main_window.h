#pragma once

// The window: views in docks, the case in a line above them, and menus for all there is. It opens
// files, exports views and remembers its layout; what is shown is the views' own business.

#include <QDockWidget>
#include <QMainWindow>
#include <QMenu>
#include <functional>
#include <vector>

#include "gui/models/file_kind.h"
#include "gui/models/session.h"
#include "gui/models/workspace.h"
#include "gui/widgets/view.h"
#include "gui/widgets/window/answer_bar.h"
#include "gui/widgets/window/case_bar.h"
#include "gui/widgets/window/job_bar.h"
#include "gui/widgets/window/welcome.h"

namespace strata::gui {

struct WindowOptions {
  QString session_folder;  ///< empty: none is kept
  QString settings_file;   ///< of layout, theme and recent files; empty: the user's own
};

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow(Workspace& workspace, const WindowOptions& options, QWidget* parent = nullptr);
  ~MainWindow() override;

  Workspace& workspace() { return workspace_; }
  const std::vector<View*>& views() const { return views_; }
  View* view(const QString& id) const;  ///< null where there is none
  void bring_to_front(View* view);

  /// Whatever the files are, one after another; they are read in the background. Errors are shown
  /// in place, of all of them.
  void open_files(const QStringList& files);
  void open_file(const QString& file) { open_files({file}); }
  void open_desk(const SavedDesk& desk);
  void open_document(const Document& document) { open_desk({document}); }
  /// A line over everything, until it is dismissed.
  void show_error(const QString& message);
  QString shown_error() const;

  void export_view(View* view, const QString& file);
  void copy_command(View* view);
  void save_strategy(const QString& file);
  void set_appearance(Appearance appearance);
  void reset_layout();
  void restore_layout();

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void make_docks();
  void make_menus();
  void make_file_menu();
  void fill_recent();
  void make_edit_menu();
  void make_strategy_menu();
  void make_view_menu();
  void make_help_menu();
  QAction* add(QMenu* menu, const QString& name, const QKeySequence& keys,
               const std::function<void()>& what);
  void show_welcome();
  void show_views();
  void show_bars();
  void find_fastest();
  void ask_for_file();
  void ask_for_export(View* view);
  void ask_for_strategy_file();
  void show_palette();
  void show_keys();
  void show_about();
  void show_scene_error();
  int height_at_foot() const;
  void take_file(const ReadFile& read);
  void offer_to_view(const QString& id, const QString& file);
  void make_active(View* view);
  void show_active();
  void go_back_to_view();
  void remember(const QString& file);
  QStringList recent_files() const;
  void update_title();
  std::vector<QAction*> all_actions() const;

  Workspace& workspace_;
  Session session_;
  QString settings_file_;
  std::vector<View*> views_;
  std::vector<QDockWidget*> docks_;  // of the views, in their order
  View* active_ = nullptr;           ///< used last: what is exported and copied
  Welcome* welcome_ = nullptr;
  Banner* error_;
  CaseBar* case_bar_;
  AnswerBar* answer_bar_;
  QMenu* recent_ = nullptr;
  QAction *export_ = nullptr, *copy_ = nullptr;  // of the active view
  QString scene_error_;                          // that was shown
  QByteArray first_layout_;
};

}  // namespace strata::gui
