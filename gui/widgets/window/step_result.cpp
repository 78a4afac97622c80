#include "gui/widgets/window/step_result.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "gui/models/search_text.h"
#include "gui/models/text.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kAlike = 0.005;  // of a factor that reads 1.00
constexpr int kLookEvery = 200;   // milliseconds

// What it is called beside another document of the same network: the factor compares two machines
// where what-ifs differ.
QString name_beside(const Document& baseline, const Document& document) {
  QString name = QString::fromStdString(baseline.strategy.label());
  CaseRequest alike = baseline.input;
  if (alike.cluster != document.input.cluster) {
    name += QStringLiteral(" on ") + QString::fromStdString(shown_name(alike.cluster));
    alike.cluster = document.input.cluster;
  }
  if (alike.sets != document.input.sets) {
    name += alike.sets.empty() ? StepResult::tr(" without the what-ifs")
                               : StepResult::tr(" with what-ifs of its own");
    alike.sets = document.input.sets;
  }
  return alike == document.input ? name : name + StepResult::tr(", as it was pinned");
}

QString flops_tip(const FlopsUtilisation& flops) {
  return StepResult::tr(
             "Eq. 1, the paper's cost of the step. MFU: the model's arithmetic, %1 of what "
             "all devices could do at their peak in that time. HFU: with what kernels "
             "compute twice, %2")
      .arg(human_share(flops.model), human_share(flops.hardware));
}

// "   implausible   3 layers not costed".
QString doubt_text(const Scene& scene) {
  QString text;
  if (scene.plausible && !scene.plausible->plausible) text += StepResult::tr("   implausible");
  const std::size_t lost = scene.uncosted.layers;
  if (lost > 0) text += StepResult::tr("   %1 not costed").arg(counted(lost, "layer"));
  return text;
}

QString notes_tip(const Scene& scene) {
  QStringList lines;
  for (const std::string& doubt : scene.trust.warnings) lines << QString::fromStdString(doubt);
  if (scene.flops) lines << flops_tip(*scene.flops);
  return lines.join(QStringLiteral("\n\n"));
}

// No room for what says nothing.
void show_note(QLabel& label, const QString& text) {
  label.setText(text);
  label.setVisible(!text.isEmpty());
}

}  // namespace

StepResult::StepResult(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      workspace_(workspace),
      step_(new QLabel(this)),
      gap_(new QLabel(this)),
      eq1_(new QLabel(this)),
      trust_(new TrustButton(workspace, this)) {
  step_->setObjectName(QStringLiteral("result"));
  step_->setTextFormat(Qt::RichText);
  step_->setAlignment(Qt::AlignRight);
  gap_->setObjectName(QStringLiteral("gap_to_fastest"));
  gap_->setAlignment(Qt::AlignRight);
  eq1_->setObjectName(QStringLiteral("eq1"));
  eq1_->setForegroundRole(QPalette::PlaceholderText);
  show_small(*gap_);
  show_small(*eq1_);
  // Nothing below moves when there is nothing to say.
  step_->setMinimumHeight(step_->fontMetrics().height() + 4);
  for (QWidget* note : std::initializer_list<QWidget*>{gap_, eq1_, trust_}) {
    note->setFixedHeight(note->fontMetrics().height() + 2);
  }
  QSizePolicy kept = eq1_->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  eq1_->setSizePolicy(kept);
  setToolTip(
      tr("The simulated step, where devices compute while bytes move; how much less the fastest "
         "strategy may take at most, once Find fastest has proved that; and Eq. 1, the paper's "
         "cost, which adds up what each layer costs"));
  auto* notes = new QHBoxLayout;
  notes->setSpacing(10);
  notes->addStretch(1);
  notes->addWidget(gap_);
  notes->addWidget(eq1_);
  notes->addWidget(trust_);
  auto* lines = new QVBoxLayout(this);
  lines->setContentsMargins(8, 0, 4, 0);
  lines->setSpacing(0);
  lines->addWidget(step_);
  lines->addLayout(notes);
  follow();
}

void StepResult::follow() {
  connect(&workspace_, &Workspace::scene_changed, this, &StepResult::show_result);
  connect(&workspace_, &Workspace::outdated_changed, this, &StepResult::show_result);
  connect(&workspace_, &Workspace::baseline_changed, this, &StepResult::show_result);
  connect(&workspace_.scoreboard(), &Scoreboard::changed, this, &StepResult::show_notes);
  connect(&workspace_.jobs(), &Jobs::changed, this, &StepResult::show_search);
  connect(&tick_, &QTimer::timeout, this, &StepResult::show_search);
  tick_.setInterval(kLookEvery);
  show_result();
}

// The result has colours in its text.
void StepResult::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) show_result();
}

QString StepResult::factor(Seconds before, Seconds now) const {
  const double times = before / now;
  const Theme theme = theme_of(palette());
  return QStringLiteral("&nbsp;&nbsp;<span style='color:%1'>%2×</span>")
      .arg((!isEnabled() || std::abs(times - 1) < kAlike ? theme.faint
            : times > 1                                  ? theme.good
                                                         : theme.bad)
               .name())
      .arg(times, 0, 'f', times < 10 ? 2 : 1);
}

// "245 ms a step  1.02× of data", before it what is missing of memory.
void StepResult::show_result() {
  setEnabled(!workspace_.is_outdated());
  show_notes();
  const ScenePtr scene = workspace_.scene(), baseline = workspace_.baseline();
  if (!scene || !workspace_.error().isEmpty()) return step_->setText(tr("not predicted"));
  const Theme theme = theme_of(palette());
  const Seconds step = scene->prediction.step_seconds();
  QString text = tr("<b>%1</b> a step").arg(human_seconds(step));
  if (baseline && baseline->document != scene->document) {
    text += factor(baseline->prediction.step_seconds(), step) +
            tr(" of %1").arg(name_beside(baseline->document, scene->document).toHtmlEscaped());
    if (!shortage_text(*baseline).empty()) text += tr(", which does not fit");
  }
  if (const QString badge = QString::fromStdString(shortage_text(*scene)); !badge.isEmpty()) {
    text.prepend(QStringLiteral("<span style='color:white; background-color:%1'>&nbsp;%2&nbsp;"
                                "</span>&nbsp;&nbsp;")
                     .arg((isEnabled() ? theme.bad : theme.faint).name(), badge.toHtmlEscaped()));
  }
  step_->setText(text);
}

// "at most 3.9 % from the fastest   Eq. 1: 256 ms   MFU 38.1 %", and behind it what is doubtful.
void StepResult::show_notes() {
  if (tick_.isActive()) return;
  const ScenePtr scene = workspace_.scene();
  const bool known = scene && workspace_.error().isEmpty();
  trust_->show_trust(known);
  if (!known) {
    show_note(*gap_, {});
    return show_note(*eq1_, {});
  }
  const Prediction& prediction = scene->prediction;
  const Seconds bound = workspace_.scoreboard().lower_bound(scene->document.input);
  show_note(*gap_, gap_text(bound, prediction.step_seconds()));
  QString costs = tr("Eq. 1: %1").arg(human_seconds(prediction.eq1_seconds()));
  if (scene->flops) costs += tr("   MFU %1").arg(human_share(scene->flops->model));
  show_note(*eq1_, costs + doubt_text(*scene));
  eq1_->setToolTip(notes_tip(*scene));
}

// A search that ends within a blink is not shown.
void StepResult::show_search() {
  const std::vector<JobState> jobs = workspace_.jobs().running();
  const auto search = std::ranges::find(jobs, kSearchLane, &JobState::lane);
  if (search == jobs.end()) {
    tick_.stop();
    return show_notes();
  }
  if (!tick_.isActive()) return tick_.start();
  const CaseRequest* const searched = workspace_.searched_case();
  const bool another = searched != nullptr && *searched != workspace_.document().input;
  show_note(*gap_, another                  ? tr("searching for the case before the edit")
                   : search->text.isEmpty() ? search->what
                                            : search->text);
  show_note(*eq1_, {});
  trust_->show_trust(false);
}

}  // namespace strata::gui
