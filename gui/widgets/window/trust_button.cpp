#include "gui/widgets/window/trust_button.h"

#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/widgets/theme.h"
#include "sim/trust/anomalies.h"

namespace strata::gui {
namespace {

constexpr int kStandStill = 500;  // milliseconds
constexpr int kLettersOfLine = 80;

QString in_html(const std::string& line) {
  return QString::fromStdString(line).toHtmlEscaped();
}

// A paragraph each; what is wrong stands first, in its colour.
QString paragraphs(const Trust& trust, const QStringList& anomalies, const Theme& theme) {
  QStringList lines;
  const auto warn = [&](const QString& line) {
    lines << QStringLiteral("<p style='color:%1'>%2</p>").arg(theme.bad.name(), line);
  };
  for (const std::string& line : trust.warnings) warn(in_html(line));
  for (const QString& line : anomalies) warn(line.toHtmlEscaped());
  for (const std::string& line : trust.facts)
    lines << QStringLiteral("<p>%1</p>").arg(in_html(line));
  return lines.join(QString());
}

// Those of the what-ifs, each predicted once more without them.
QStringList anomalies_of(const Scene& scene, Progress& progress) {
  const CaseRequest& request = scene.document.input;
  PredictOptions options;
  options.steps = scene.document.simulation.steps;
  options.devices = Simulated::one_of_each_class;
  options.cancelled = progress.cancelled();
  const Seconds step = scene.prediction.step_seconds();
  QStringList lines;
  for (const Anomaly& found :
       anomalies(request, machine_changes(request), scene.prediction.strategy, step, options)) {
    lines << QString::fromStdString(anomaly_text(found, step));
  }
  return lines;
}

}  // namespace

TrustButton::TrustButton(Workspace& workspace, QWidget* parent)
    : QToolButton(parent), workspace_(workspace), panel_(new QFrame(this, Qt::Popup)) {
  setObjectName(QStringLiteral("trust"));
  setFocusPolicy(Qt::NoFocus);
  setAutoRaise(true);
  show_small(*this);
  panel_->setObjectName(QStringLiteral("trust_panel"));
  panel_->setFrameShape(QFrame::StyledPanel);
  text_ = new QLabel(panel_);
  text_->setObjectName(QStringLiteral("trust_text"));
  text_->setTextFormat(Qt::RichText);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  text_->setFixedWidth(kLettersOfLine * fontMetrics().averageCharWidth());
  (new QVBoxLayout(panel_))->addWidget(text_);
  QSizePolicy policy = sizePolicy();
  policy.setRetainSizeWhenHidden(true);  // nothing moves while a step is not known
  setSizePolicy(policy);
  pause_.setSingleShot(true);
  pause_.setInterval(kStandStill);
  connect(&pause_, &QTimer::timeout, this, &TrustButton::look_for_anomalies);
  connect(this, &QToolButton::clicked, this, &TrustButton::open);
}

void TrustButton::show_trust(bool known) {
  known_ = known;
  if (known && of_ != workspace_.scene()) {
    of_ = workspace_.scene();
    anomalies_.clear();
    if (!of_->document.input.sets.empty()) pause_.start();
  }
  show_text();
}

void TrustButton::show_text() {
  setVisible(known_);
  if (!known_) return;
  const Trust& trust = of_->trust;
  const auto warnings = static_cast<qsizetype>(trust.warnings.size()) + anomalies_.size();
  QString brief = QString::fromStdString(trust.brief);
  if (warnings > 0) {
    if (!brief.isEmpty()) brief += QStringLiteral(", ");
    brief += tr("%n warning(s)", nullptr, static_cast<int>(warnings));
  }
  const Theme theme = theme_of(palette());
  setText(brief.isEmpty() ? tr("Trust") : brief);
  setToolTip(paragraphs(trust, anomalies_, theme));
  if (panel_->isVisible()) text_->setText(toolTip());
}

// Its warnings have colours in their text.
void TrustButton::changeEvent(QEvent* event) {
  QToolButton::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && text_ != nullptr) show_text();
}

void TrustButton::open() {
  text_->setText(toolTip());
  panel_->adjustSize();
  panel_->move(mapToGlobal(QPoint(width() - panel_->width(), height())));
  panel_->show();
}

void TrustButton::look_for_anomalies() {
  if (!workspace_.is_current() || of_ != workspace_.scene()) return;
  workspace_.jobs().start(
      this, QStringLiteral("anomalies"), tr("Predicting without the what-ifs"),
      [this, scene = of_](Progress& progress) -> Jobs::Show {
        return [this, scene, found = anomalies_of(*scene, progress)] {
          if (of_ != scene) return;
          anomalies_ = found;
          show_text();
        };
      },
      [](const QString& /*message*/) {});  // the case has a step without them
}

}  // namespace strata::gui
