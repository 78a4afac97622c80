#include "gui/widgets/sweep/report_page.h"

#include <QEvent>
#include <QPainter>
#include <QScrollBar>
#include <QSvgRenderer>
#include <algorithm>
#include <utility>

#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr int kWidestChart = 720, kPageMargin = 16;
constexpr double kFinest = 2;  // pictures of the page have twice its size
constexpr QLatin1String kChartScheme("chart");

QByteArray svg_of_chart(const Chart& chart, bool dark) {
  return QByteArray::fromStdString(print_svg_alone(chart, dark));
}

}  // namespace

ReportPage::ReportPage(QWidget* parent) : QTextBrowser(parent) {
  setFrameShape(QFrame::NoFrame);
  setOpenLinks(false);
  setAccessibleName(tr("Report"));
  document()->setDocumentMargin(kPageMargin);
}

void ReportPage::show_report(ReportPtr report) {
  const int at = verticalScrollBar()->value();
  report_ = std::move(report);
  lay_out();
  verticalScrollBar()->setValue(at);
}

void ReportPage::say(const QString& text) {
  report_.reset();
  charts_.clear();
  setPlainText(text);
}

void ReportPage::lay_out() {
  if (!report_) return;
  laid_out_for_ = chart_width();
  charts_.clear();
  const std::string html = print_html_body(*report_, [&](const Chart& chart) {
    charts_.push_back(&chart);
    return "<p><img src=\"chart:" + std::to_string(charts_.size() - 1) + "\" width=\"" +
           std::to_string(laid_out_for_) + "\"/></p>\n";
  });
  document()->setDefaultStyleSheet(style());
  setHtml(QString::fromStdString(html));
}

// What the page's own style sheet says, as far as rich text has it.
QString ReportPage::style() const {
  const Theme theme = theme_of(palette());
  return QStringLiteral(
             "h1 { font-size: x-large; } h2 { font-size: large; margin-top: 24px; }"
             "th { text-align: left; padding: 3px 10px; border-bottom: 1px solid %1; }"
             "td { padding: 3px 10px; } .number { text-align: right; }"
             ".note { color: %2; } .error { color: %2; } .reproduced { color: %3; }"
             ".differs { color: %2; } .unanswered { color: %1; } footer { color: %1; }")
      .arg(theme.faint.name(), theme.bad.name(), theme.good.name());
}

int ReportPage::chart_width() const {
  return std::clamp(viewport()->width() - 3 * kPageMargin, 240, kWidestChart);
}

QImage ReportPage::chart(std::size_t place) const {
  QSvgRenderer renderer(svg_of_chart(*charts_.at(place), theme_of(palette()).dark));
  const double ratio = std::max(kFinest, devicePixelRatioF());
  const int width = laid_out_for_;
  const QSizeF whole = renderer.viewBoxF().size();
  const double height = whole.width() > 0 ? width * whole.height() / whole.width() : 1;
  QImage image((QSizeF(width, height) * ratio).toSize(), QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  renderer.render(&painter, QRectF(0, 0, width, height));
  return image;
}

QVariant ReportPage::loadResource(int type, const QUrl& name) {
  if (name.scheme() != kChartScheme) return {};  // a report names nothing else
  bool is_number = false;
  const auto place = static_cast<std::size_t>(name.path().toUInt(&is_number));
  if (type != QTextDocument::ImageResource || !is_number || place >= charts_.size()) return {};
  return chart(place);
}

void ReportPage::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  if (report_ && chart_width() != laid_out_for_) show_report(report_);
}

void ReportPage::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && report_) show_report(report_);
}

}  // namespace strata::gui
