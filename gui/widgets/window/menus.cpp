// The window's menus. Every action has a name here, so that the palette finds it.

#include <QActionGroup>
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMessageBox>
#include <QStatusBar>
#include <algorithm>

#include "gui/models/network/solve_rest.h"
#include "gui/models/text.h"
#include "gui/widgets/window/command_palette.h"
#include "gui/widgets/window/key_list.h"
#include "gui/widgets/window/main_window.h"

namespace strata::gui {

QAction* MainWindow::add(QMenu* menu, const QString& name, const QKeySequence& keys,
                         const std::function<void()>& what) {
  QAction* const action = menu->addAction(name);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, what);
  return action;
}

void MainWindow::make_menus() {
  make_file_menu();
  make_edit_menu();
  make_strategy_menu();
  make_view_menu();
  make_help_menu();
  show_active();
}

void MainWindow::make_file_menu() {
  QMenu* const menu = menuBar()->addMenu(tr("&File"));
  add(menu, tr("&Open…"), QKeySequence::Open, [this] { ask_for_file(); });
  recent_ = menu->addMenu(tr("Open &again"));
  connect(menu, &QMenu::aboutToShow, this, &MainWindow::fill_recent);
  add(menu, tr("Open the &paper's example"), {}, [this] { open_document(paper_example()); });
  menu->addSeparator();
  add(menu, tr("&Save the strategy as…"), QKeySequence::Save, [this] { ask_for_strategy_file(); });
  export_ = add(menu, tr("&Export this view…"), QKeySequence(tr("Ctrl+E")),
                [this] { ask_for_export(active_); });
  copy_ = add(menu, tr("&Copy this view as a command"), QKeySequence(tr("Ctrl+Shift+C")), [this] {
    if (active_ != nullptr) copy_command(active_);
  });
  menu->addSeparator();
  add(menu, tr("&Quit"), QKeySequence::Quit, [this] { close(); });
}

// The files that were opened last, the latest first.
void MainWindow::fill_recent() {
  recent_->clear();
  const QStringList files = recent_files();
  const QStringList folders = folders_that_tell(files);
  for (qsizetype i = 0; i < files.size(); ++i) {
    const QString& file = files[i];
    const QString folder = folders[i].isEmpty() ? QString() : QStringLiteral("   ") + folders[i];
    QAction* const action = recent_->addAction(QFileInfo(file).fileName() + folder);
    action->setToolTip(file);
    connect(action, &QAction::triggered, this, [this, file] { open_file(file); });
  }
  recent_->setEnabled(!files.isEmpty());
}

void MainWindow::make_edit_menu() {
  QMenu* const menu = menuBar()->addMenu(tr("&Edit"));
  QAction* const undo = workspace_.undo_stack().createUndoAction(this, tr("&Undo"));
  undo->setShortcut(QKeySequence::Undo);
  QAction* const redo = workspace_.undo_stack().createRedoAction(this, tr("&Redo"));
  redo->setShortcut(QKeySequence(tr("Ctrl+Shift+Z")));
  menu->addActions({undo, redo});
  menu->addSeparator();
  // Its key is no shortcut: it is that of views first (eventFilter).
  add(menu, tr("Select &nothing"), QKeySequence(Qt::Key_Escape), [this] {
    workspace_.selection().clear();
  })->setShortcutContext(Qt::WidgetShortcut);
  add(menu, tr("Go to the &network's field"), QKeySequence(tr("Ctrl+L")),
      [this] { case_bar_->focus_model(); });
  add(menu, tr("S&top what runs in the background"), QKeySequence(tr("Ctrl+.")),
      [this] { workspace_.stop(); });
}

void MainWindow::make_strategy_menu() {
  QMenu* const menu = menuBar()->addMenu(tr("&Strategy"));
  const auto take = [&](const QString& name, const char* source, const QKeySequence& keys) {
    add(menu, name, keys, [this, source] { workspace_.set_strategy({source, {}}); });
  };
  add(menu, tr("Find the &fastest strategy"), QKeySequence(tr("Ctrl+Return")),
      [this] { find_fastest(); });
  take(tr("Optimum under &Eq. 1, where nothing overlaps"), "eq1",
       QKeySequence(tr("Ctrl+Shift+Return")));
  take(tr("&Data parallelism"), "data", QKeySequence(tr("Ctrl+1")));
  take(tr("&Model parallelism"), "model", QKeySequence(tr("Ctrl+2")));
  take(tr("&OWT: data, and model for the fully-connected layers"), "owt",
       QKeySequence(tr("Ctrl+3")));
  take(tr("&Hybrid: tensor and sequence parallelism over 2"), "hybrid:tp=2,sp=1",
       QKeySequence(tr("Ctrl+4")));
  take(tr("H&ybrid: tensor and sequence parallelism over 4"), "hybrid:tp=4,sp=1",
       QKeySequence(tr("Ctrl+5")));
  take(tr("Hy&brid: tensor and sequence parallelism over 8"), "hybrid:tp=8,sp=1",
       QKeySequence(tr("Ctrl+6")));
  menu->addSeparator();
  add(menu, tr("&Pin as the baseline"), QKeySequence(tr("Ctrl+B")),
      [this] { workspace_.pin_baseline(); });
  add(menu, tr("&No baseline"), {}, [this] { workspace_.clear_baseline(); });
}

void MainWindow::find_fastest() {
  solve_rest(
      workspace_, this, {},
      [this](const SolvedRest& found) { statusBar()->showMessage(said_of(found), 10000); },
      [this](const QString& message) { show_error(message); });
}

void MainWindow::make_view_menu() {
  QMenu* const menu = menuBar()->addMenu(tr("&View"));
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const QKeySequence keys = i < 10 ? QKeySequence(QStringLiteral("Alt+%1").arg((i + 1) % 10))
                                     : QKeySequence(tr("Alt+P"));  // the phase map
    add(menu, views_[i]->title(), keys, [this, i] { bring_to_front(views_[i]); });
  }
  menu->addSeparator();
  add(menu, tr("&Usual layout"), {}, [this] { reset_layout(); });
  add(menu, tr("Colours of the &desktop"), {}, [this] { set_appearance(Appearance::system); });
  add(menu, tr("&Light colours"), {}, [this] { set_appearance(Appearance::light); });
  add(menu, tr("D&ark colours"), {}, [this] { set_appearance(Appearance::dark); });
}

void MainWindow::make_help_menu() {
  QMenu* const menu = menuBar()->addMenu(tr("&Help"));
  add(menu, tr("&Keys"), QKeySequence(QStringLiteral("?")), [this] { show_keys(); });
  add(menu, tr("&Find an action…"), QKeySequence(tr("Ctrl+Shift+P")), [this] { show_palette(); });
  add(menu, tr("&About Strata"), {}, [this] { show_about(); });
}

std::vector<QAction*> MainWindow::all_actions() const {
  std::vector<QAction*> actions;
  for (const QAction* menu : menuBar()->actions()) {
    for (QAction* action : menu->menu()->actions()) {
      if (!action->isSeparator() && action->menu() == nullptr) actions.push_back(action);
    }
  }
  return actions;
}

void MainWindow::ask_for_file() {
  const QString file = QFileDialog::getOpenFileName(
      this, tr("Open"), {},
      tr("All that Strata reads (*.toml *.onnx *.json *.db *.sqlite);;All files (*)"));
  if (!file.isEmpty()) open_file(file);
}

void MainWindow::ask_for_export(View* view) {
  if (view == nullptr) return;
  const QStringList formats = view->formats();
  QStringList filters;
  for (const QString& format : formats) {
    filters << QStringLiteral("%1 (*.%2)").arg(format.toUpper(), format);
  }
  const QString& offered = formats.front();
  QString filter = filters.front();
  const QString file = QFileDialog::getSaveFileName(this, tr("Export %1").arg(view->title()),
                                                    view->id() + '.' + offered,
                                                    filters.join(QStringLiteral(";;")), &filter);
  if (file.isEmpty()) return;
  const auto chosen = std::max<qsizetype>(filters.indexOf(filter), 0);
  export_view(view, named_as(formats[chosen], file, offered));
}

void MainWindow::ask_for_strategy_file() {
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Save the strategy"), QStringLiteral("strategy.json"), tr("Strategies (*.json)"));
  if (!file.isEmpty()) save_strategy(file);
}

void MainWindow::show_palette() {
  auto* palette = new CommandPalette(all_actions(), this);
  palette->setAttribute(Qt::WA_DeleteOnClose);
  palette->move(mapToGlobal(QPoint((width() - palette->width()) / 2, 80)));
  palette->show();
}

void MainWindow::show_keys() {
  auto* keys = new KeyList(all_actions(), views_, this);
  keys->setAttribute(Qt::WA_DeleteOnClose);
  keys->show();
}

void MainWindow::show_about() {
  auto* about = new QMessageBox(this);
  about->setAttribute(Qt::WA_DeleteOnClose);
  about->setWindowTitle(tr("About Strata"));
  about->setText(tr("Strata %1").arg(QApplication::applicationVersion()));
  about->setInformativeText(
      tr("Predicts, finds and runs the best way to cut a neural network over devices."));
  about->open();
}

}  // namespace strata::gui
