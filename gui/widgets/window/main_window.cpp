#include "gui/widgets/window/main_window.h"

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStatusBar>
#include <QTabBar>
#include <algorithm>

#include "gui/widgets/window/views.h"
#include "sim/base/error.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"

namespace strata::gui {
namespace {

constexpr int kLayoutVersion = 4, kMostRecent = 5;

// With its frame no larger than the screen; a picture off the screen has none.
QSize first_size(const QScreen& screen) {
  constexpr QSize kWanted(1440, 900);
  constexpr QSize kFrame(16, 56);  // of the desktop's, about
  const bool offscreen = QGuiApplication::platformName() == QLatin1String("offscreen");
  return offscreen ? kWanted : kWanted.boundedTo(screen.availableSize() - kFrame);
}

// Tells of each press of the mouse, and where, on whatever of a window.
class PressFilter : public QObject {
 public:
  using Pressed = std::function<void(const QWidget&, QPoint)>;
  PressFilter(QObject* parent, Pressed pressed) : QObject(parent), pressed_(std::move(pressed)) {}

  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::MouseButtonPress) return false;
    const auto* const widget = qobject_cast<QWidget*>(watched);
    if (widget != nullptr) pressed_(*widget, static_cast<QMouseEvent*>(event)->pos());
    return false;
  }

 private:
  Pressed pressed_;
};

// Of the tab there, where the widget is a bar of tabs; else empty.
QString tab_text(const QWidget& widget, QPoint at) {
  const auto* const tabs = qobject_cast<const QTabBar*>(&widget);
  return tabs == nullptr ? QString() : tabs->tabText(tabs->tabAt(at));
}

std::unique_ptr<QSettings> settings(const QString& file) {
  if (file.isEmpty()) return std::make_unique<QSettings>();
  return std::make_unique<QSettings>(file, QSettings::IniFormat);
}

}  // namespace

MainWindow::MainWindow(Workspace& workspace, const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent),
      workspace_(workspace),
      session_(workspace, options.session_folder),
      settings_file_(options.settings_file),
      error_(new Banner(this)),
      case_bar_(new CaseBar(workspace, this)),
      answer_bar_(new AnswerBar(workspace, this)) {
  setObjectName(QStringLiteral("main"));
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  resize(first_size(*screen()));
  const auto remembered = settings(settings_file_);
  apply(static_cast<Appearance>(remembered->value(QStringLiteral("appearance"), 0).toInt()));

  addToolBar(case_bar_);
  addToolBarBreak();
  addToolBar(answer_bar_);
  error_->setObjectName(QStringLiteral("error"));
  auto* job_bar = new JobBar(workspace_.jobs(), this);
  connect(job_bar, &JobBar::stop_wanted, &workspace_, &Workspace::stop);
  statusBar()->addPermanentWidget(job_bar);
  error_->stand_on([this] { return height_at_foot(); });

  installEventFilter(this);
  make_docks();
  make_menus();
  answer_bar_->show();  // in the layout: a maximised window may restore it once more, later
  first_layout_ = saveState(kLayoutVersion);
  restoreGeometry(remembered->value(QStringLiteral("geometry")).toByteArray());
  connect(answer_bar_, &AnswerBar::fastest_wanted, this, &MainWindow::find_fastest);
  connect(case_bar_, &CaseBar::entered, this, &MainWindow::go_back_to_view);
  connect(case_bar_, &CaseBar::file_wanted, this, &MainWindow::ask_for_file);
  connect(case_bar_, &CaseBar::example_wanted, this, [this] { open_document(paper_example()); });
  connect(&workspace_, &Workspace::failed, this, &MainWindow::show_error);
  connect(&workspace_, &Workspace::document_changed, this, &MainWindow::update_title);
  connect(&workspace_, &Workspace::document_changed, this, [this] { show_error({}); });
  connect(&workspace_, &Workspace::document_changed, this, &MainWindow::show_views);
  connect(&workspace_, &Workspace::scene_changed, this, &MainWindow::show_scene_error);
  workspace_.document().empty() ? show_welcome() : restore_layout();
  update_title();
}

// What dies with the window moves the focus and hides docks, of which nothing is to be noted then.
MainWindow::~MainWindow() {
  disconnect(qApp, nullptr, this, nullptr);
  for (QDockWidget* dock : docks_) disconnect(dock, nullptr, this, nullptr);
}

View* MainWindow::view(const QString& id) const {
  const auto found = std::find_if(views_.begin(), views_.end(),
                                  [&](const View* view) { return view->id() == id; });
  return found == views_.end() ? nullptr : *found;
}

void MainWindow::bring_to_front(View* view) {
  const auto at = std::find(views_.begin(), views_.end(), view);
  if (at == views_.end() || welcome_ != nullptr) return;
  QDockWidget* const dock = docks_[static_cast<std::size_t>(at - views_.begin())];
  dock->show();
  dock->raise();
  view->setFocus();
  make_active(view);
}

void MainWindow::make_active(View* view) {
  if (view == active_) return;
  if (active_ != nullptr) active_->set_active(false);
  active_ = view;
  view->set_active(true);
  show_active();
}

void MainWindow::show_active() {
  if (active_ == nullptr || export_ == nullptr) return;
  export_->setText(tr("&Export %1…").arg(active_->title()));
  copy_->setText(tr("&Copy %1 as a command").arg(active_->title()));
}

// So that keys are for what is looked at, and Ctrl+Z takes back the edit and not the text.
void MainWindow::go_back_to_view() {
  (active_ != nullptr ? active_ : views_.front())->setFocus();
}

void MainWindow::make_docks() {
  views_ = make_views(workspace_);
  for (View* view : views_) {
    auto* dock = new QDockWidget(view->title(), this);
    dock->setObjectName(view->id() + QStringLiteral("_dock"));
    dock->setWidget(view);
    dock->installEventFilter(this);
    connect(view, &View::wanted, this, [this, view] { bring_to_front(view); });
    connect(view, &View::opened, this, &MainWindow::remember);
    connect(view, &View::noticed, error_, &Banner::place);
    connect(view, &View::file_chosen, this, &MainWindow::open_file);
    connect(dock, &QDockWidget::visibilityChanged, this, [this, view](bool visible) {
      if (visible) make_active(view);
      view->set_seen(visible);
      error_->place();
    });
    docks_.push_back(dock);
  }
  // The focus that a dialog gives back may be that of a view behind others.
  const auto activate_at = [this](const QWidget& widget) {
    for (View* view : views_) {
      const bool is_in = view == &widget || view->isAncestorOf(&widget);
      if (is_in && view->is_seen()) make_active(view);
    }
  };
  connect(qApp, &QApplication::focusChanged, this, [activate_at](QWidget*, QWidget* now) {
    if (now != nullptr) activate_at(*now);
  });
  // A click on a tab, also of the view in front. The keys go there once its dock is raised.
  const auto press_tab = [this](const QString& title) {
    for (View* view : views_) {
      if (view->title() != title) continue;
      QMetaObject::invokeMethod(
          this, [this, view] { bring_to_front(view); }, Qt::QueuedConnection);
    }
  };
  qApp->installEventFilter(
      new PressFilter(this, [this, activate_at, press_tab](const QWidget& widget, QPoint at) {
        activate_at(widget);
        if (widget.parentWidget() == this) press_tab(tab_text(widget, at));
      }));
  // The knobs beside everything; the network above, what comes of it below.
  setCorner(Qt::TopRightCorner, Qt::RightDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  const QStringList left{"network", "cluster"}, right{"what_if", "why"};
  QDockWidget *first_left = nullptr, *first_right = nullptr, *first_below = nullptr;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const QString& id = views_[i]->id();
    const bool is_left = left.contains(id), is_right = right.contains(id);
    QDockWidget*& first = is_left ? first_left : is_right ? first_right : first_below;
    const auto area = is_left    ? Qt::LeftDockWidgetArea
                      : is_right ? Qt::RightDockWidgetArea
                                 : Qt::BottomDockWidgetArea;
    addDockWidget(area, docks_[i]);
    if (first != nullptr) tabifyDockWidget(first, docks_[i]);
    if (first == nullptr) first = docks_[i];
  }
  for (QDockWidget* dock : {first_left, first_right, first_below}) {
    if (dock != nullptr) dock->raise();
  }
  if (first_left != nullptr && first_right != nullptr) {
    resizeDocks({first_left, first_right}, {900, 540}, Qt::Horizontal);
  }
  if (first_left != nullptr && first_below != nullptr) {
    resizeDocks({first_left, first_below}, {380, 400}, Qt::Vertical);
  }
}

// The first page has no layout. Bars are no part of one: what was saved on an empty desk hides
// them.
void MainWindow::reset_layout() {
  if (welcome_ != nullptr) return;
  restoreState(first_layout_, kLayoutVersion);
  show_bars();
}

void MainWindow::show_bars() {
  case_bar_->show();
  answer_bar_->setVisible(!workspace_.document().empty());
}

// The welcome stands where the views will be.
void MainWindow::show_welcome() {
  welcome_ = new Welcome(session_.left(), recent_files(), this);
  connect(welcome_, &Welcome::go_on_wanted, this,
          [this](const LeftSession& left) { open_desk(session_.go_on(left)); });
  connect(welcome_, &Welcome::document_wanted, this, &MainWindow::open_document);
  connect(welcome_, &Welcome::file_wanted, this,
          [this](const QString& file) { file.isEmpty() ? ask_for_file() : open_file(file); });
  setCentralWidget(welcome_);
  welcome_->setFocus();
  case_bar_->hide();
  answer_bar_->hide();
  for (QDockWidget* dock : docks_) dock->hide();
}

// Not before there are views: in a window that is still to be maximised Qt restores once more, when
// it has its size, and what was hidden since is there again.
void MainWindow::restore_layout() {
  const auto remembered = settings(settings_file_)->value(QStringLiteral("layout")).toByteArray();
  if (!restoreState(remembered, kLayoutVersion)) restoreState(first_layout_, kLayoutVersion);
}

void MainWindow::show_views() {
  if (welcome_ == nullptr) return;
  welcome_->deleteLater();
  welcome_ = nullptr;
  takeCentralWidget();
  restore_layout();
  show_bars();
  // Once more when the bars are as high as they will be: docks would move a little at each start.
  layout()->activate();
  restore_layout();
  show_bars();
  views_.front()->setFocus();  // keys are for the views, not for the first field
}

void MainWindow::open_desk(const SavedDesk& desk) {
  show_error({});
  workspace_.open(desk);
  show_views();
}

void MainWindow::show_error(const QString& message) {
  error_->show_text(QString(message).remove(QLatin1Char('`')));
}

// What stays in view below an error: the status bar, and what the views above it have at their
// foot.
int MainWindow::height_at_foot() const {
  constexpr int kNear = 12;  // pixels: a frame of docks
  const int bar = statusBar()->height();
  int most = 0;
  for (const View* view : views_) {
    if (!view->isVisible() || !view->is_seen() || view->window() != this) continue;
    const int below = height() - view->mapTo(this, QPoint(0, view->height())).y();
    if (below <= bar + kNear) most = std::max(most, below - bar + view->covered_height());
  }
  return bar + most;
}

// What somebody else said stays until it is dismissed, or something is edited.
void MainWindow::show_scene_error() {
  const QString now = workspace_.error();
  if (!now.isEmpty()) {
    show_error(now);
  } else if (shown_error() == scene_error_) {
    show_error({});
  }
  scene_error_ = now;
}

QString MainWindow::shown_error() const {
  return error_->text();
}

void MainWindow::export_view(View* view, const QString& file) {
  try {
    workspace_.jobs().start(
        this, QStringLiteral("export ") + file, tr("Writing %1").arg(QFileInfo(file).fileName()),
        [this, file, write = view->exported(file)](Progress&) -> Jobs::Show {
          write();
          return [this, file] { statusBar()->showMessage(tr("Written: %1").arg(file), 5000); };
        },
        [this](const QString& message) { show_error(message); });
  } catch (const Error& error) {
    show_error(QString::fromStdString(error.message()));
  }
}

void MainWindow::copy_command(View* view) {
  const QString command = view->command();
  if (command.isEmpty()) {
    const QString why = view->why_no_command();
    const QString none = tr("No command shows what %1 shows").arg(view->title());
    return statusBar()->showMessage(why.isEmpty() ? none : none + QStringLiteral(": ") + why,
                                    10000);
  }
  QApplication::clipboard()->setText(command);
  const Document& document = workspace_.document();
  const bool needs_file = document.strategy.edited() && !workspace_.is_saved(document) &&
                          command.contains(QLatin1String("strategy.json"));
  statusBar()->showMessage(
      (needs_file ? tr("Copied; save the strategy as strategy.json for it (Ctrl+S): %1")
                  : tr("Copied: %1"))
          .arg(command),
      10000);
}

void MainWindow::save_strategy(const QString& file) {
  const ScenePtr scene = workspace_.scene();
  if (!scene) return show_error(tr("There is no strategy yet: open a network first"));
  try {
    const Case& input = scene->input;
    const std::string name = QFileInfo(file).completeBaseName().toStdString();
    write_file_whole(file.toStdString(), print_strategy(scene->prediction.strategy.called(name),
                                                        input.graph, input.cluster));
    workspace_.note_saved(scene->document.strategy, file.toStdString());
    statusBar()->showMessage(tr("Written: %1").arg(file), 5000);
  } catch (const Error& error) {
    show_error(QString::fromStdString(error.message()));
  }
}

void MainWindow::set_appearance(Appearance appearance) {
  apply(appearance);
  settings(settings_file_)->setValue(QStringLiteral("appearance"), static_cast<int>(appearance));
}

// Esc that nobody in the window took. A view of its own window passes no keys on to this one.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  const bool escape =
      event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
  if (!escape) return QMainWindow::eventFilter(watched, event);
  workspace_.selection().clear();
  return true;
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) files << url.toLocalFile();
  }
  open_files(files);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  const auto remembered = settings(settings_file_);
  remembered->setValue(QStringLiteral("geometry"), saveGeometry());
  if (welcome_ == nullptr)
    remembered->setValue(QStringLiteral("layout"), saveState(kLayoutVersion));
  event->accept();
}

void MainWindow::remember(const QString& file) {
  QStringList recent = recent_files();
  recent.removeAll(file);
  recent.prepend(file);
  settings(settings_file_)->setValue(QStringLiteral("recent"), recent.mid(0, kMostRecent));
}

QStringList MainWindow::recent_files() const {
  return settings(settings_file_)->value(QStringLiteral("recent")).toStringList();
}

void MainWindow::update_title() {
  const QString name = QString::fromStdString(workspace_.document().name());
  setWindowTitle(name.isEmpty() ? QStringLiteral("Strata") : name + QStringLiteral(" — Strata"));
}

}  // namespace strata::gui
