#include "gui/widgets/view.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPainter>
#include <QShortcut>
#include <QSvgGenerator>
#include <utility>

#include <fmt/format.h>

#include "gui/models/text.h"
#include "gui/widgets/scrolled_content.h"
#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata::gui {
namespace {

constexpr int kMarkHeight = 2;

constexpr int kAroundTitle = 8;  // pixels

int title_height(const QWidget& widget, const QString& title) {
  return title.isEmpty() ? 0 : widget.fontMetrics().height() + 2 * kAroundTitle;
}

QSize size_with_title(const QWidget& widget, const QString& title) {
  return widget.size() + QSize(0, title_height(widget, title));
}

// The widget, beneath a line that says what it shows.
void paint_with_title(QPainter& painter, QWidget& widget, const QString& title) {
  const int above = title_height(widget, title);
  painter.fillRect(QRect(0, 0, widget.width(), above), widget.palette().color(QPalette::Window));
  painter.setFont(widget.font());
  painter.setPen(widget.palette().color(QPalette::WindowText));
  const QRect line(kAroundTitle, 0, widget.width() - 2 * kAroundTitle, above);
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                   widget.fontMetrics().elidedText(title, Qt::ElideRight, line.width()));
  widget.render(&painter, QPoint(0, above));
}

QImage image_of(QWidget& widget, const QString& title) {
  QImage image(size_with_title(widget, title) * 2, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(2);
  image.fill(widget.palette().color(QPalette::Window));
  QPainter painter(&image);
  paint_with_title(painter, widget, title);
  return image;
}

QByteArray png_of(const QImage& image) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

QByteArray svg_of(QWidget& widget, const QString& name, const QString& title) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setSize(size_with_title(widget, title));
  svg.setViewBox(QRect(QPoint(), size_with_title(widget, title)));
  svg.setTitle(name);
  QPainter painter(&svg);
  paint_with_title(painter, widget, title);
  painter.end();
  return bytes;
}

}  // namespace

QString named_as(const QString& chosen, const QString& file, const QString& offered) {
  const QString suffix = QFileInfo(file).suffix();
  if (suffix.isEmpty()) return file + '.' + chosen;
  if (suffix.toLower() != offered) return file;
  return file.chopped(suffix.size()) + chosen;
}

QVBoxLayout* make_column(QWidget* widget) {
  auto* column = new QVBoxLayout(widget);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  return column;
}

QToolButton* make_toggle(const QString& text, const QString& tip, bool on) {
  auto* button = new QToolButton;
  button->setText(text);
  button->setToolTip(tip);
  button->setCheckable(true);
  button->setChecked(on);
  button->setAutoRaise(true);
  button->setFocusPolicy(Qt::NoFocus);
  return button;
}

View::View(const QString& id, const QString& title, Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      id_(id),
      title_(title),
      workspace_(workspace),
      mark_(new QWidget(this)),
      instead_(new QLabel(this)),
      notice_(new Banner(this)),
      veil_(new QWidget(this)) {
  setObjectName(id);
  mark_->setFixedHeight(kMarkHeight);
  mark_->setBackgroundRole(QPalette::Highlight);
  notice_->stand_on([this] { return foot_height(); });
  instead_->setWordWrap(true);
  instead_->setMargin(12);
  instead_->setAlignment(Qt::AlignCenter);
  instead_->setForegroundRole(QPalette::PlaceholderText);
  instead_->hide();
  veil_->setAttribute(Qt::WA_TransparentForMouseEvents);
  veil_->setAutoFillBackground(true);
  veil_->hide();
  auto* layout = make_column(this);
  layout->addWidget(mark_);
  layout->addWidget(instead_, 1);
  connect(&workspace_, &Workspace::scene_changed, this, &View::show_dimmed);
  connect(&workspace_, &Workspace::outdated_changed, this, &View::show_dimmed);
}

void View::set_active(bool active) {
  mark_->setAutoFillBackground(active);
  mark_->update();
}

// What is on the screen is of an earlier case then.
void View::show_dimmed() {
  constexpr double kDimmed = 0.6;
  const bool dimmed = shows_scene() && (!workspace_.error().isEmpty() || workspace_.is_outdated());
  if (dimmed) {
    QPalette colours = veil_->palette();
    colours.setColor(QPalette::Window, see_through(palette().color(QPalette::Window), kDimmed));
    veil_->setPalette(colours);
    veil_->setGeometry(rect());
    veil_->raise();
    notice_->raise();
  }
  veil_->setVisible(dimmed);
}

void View::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  veil_->setGeometry(rect());
}

void View::add_key(const QKeySequence& keys, const std::function<void()>& action, QWidget* where,
                   Qt::ShortcutContext context) {
  auto* shortcut = new QShortcut(keys, where == nullptr ? this : where);
  shortcut->setContext(context);
  connect(shortcut, &QShortcut::activated, this, action);
}

QString View::predict_command(const std::string& options) const {
  const Document& document = workspace().document();
  if (document.empty()) return {};
  return QString::fromStdString("strata predict " + case_arguments(document) +
                                strategy_argument(document, workspace().strategy_file(document)) +
                                simulation_options(document) + options);
}

void View::set_content(QWidget* content) {
  content_ = content;
  room_ = new ScrolledContent(content, this);
  static_cast<QVBoxLayout*>(layout())->addWidget(room_, 1);
  setFocusProxy(content);
}

void View::set_seen(bool seen) {
  seen_ = seen;
  if (waiting_) when_seen(std::exchange(waiting_, nullptr));
}

void View::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (waiting_) when_seen(std::exchange(waiting_, nullptr));
}

void View::when_seen(std::function<void()> what) {
  if (seen_ && isVisible()) return what();
  waiting_ = std::move(what);
}

void View::notify(const QString& text) {
  notice_->show_text(text);
  emit noticed();
}

void View::show_instead(const QString& text) {
  instead_->setText(text);
  instead_->setVisible(!text.isEmpty());
  room_->setVisible(text.isEmpty());
}

QString View::picture_title() const {
  const ScenePtr& scene = workspace_.scene();
  if (!scene || !shows_scene()) return {};
  const Document& shown = scene->document;
  return tr("%1, %2: a step takes %3")
      .arg(QString::fromStdString(shown.name()), QString::fromStdString(shown.strategy.label()),
           human_seconds(scene->prediction.step_seconds()));
}

QStringList View::formats() const {
  QStringList formats{QStringLiteral("png"), QStringLiteral("svg")};
  if (has_csv()) formats << QStringLiteral("csv");
  return formats;
}

void View::export_to(const QString& file) {
  exported(file)();
}

std::function<void()> View::exported(const QString& file) {
  const QString suffix = QFileInfo(file).suffix().toLower();
  const auto write = [file](const QByteArray& bytes) {
    write_file_whole(file.toStdString(),
                     {bytes.constData(), static_cast<std::size_t>(bytes.size())});
  };
  if (suffix == QLatin1String("png")) {
    return [write, image = image_of(picture(), picture_title())] { write(png_of(image)); };
  }
  if (suffix == QLatin1String("csv") && has_csv()) {
    return [write, text = csv_later()] { write(text().toUtf8()); };
  }
  QByteArray bytes;
  if (suffix == QLatin1String("svg")) bytes = svg_of(picture(), title_, picture_title());
  if (bytes.isEmpty()) {
    throw InputError(fmt::format("{}: cannot be written as '{}'; allowed: {}", file.toStdString(),
                                 suffix.toStdString(),
                                 formats().join(QStringLiteral(", ")).toStdString()));
  }
  return [write, bytes] { write(bytes); };
}

}  // namespace strata::gui
