#include "gui/widgets/window/case_bar.h"

#include <algorithm>
#include <array>

#include "gui/document/document_settings.h"
#include "sim/search/solve.h"

namespace strata::gui {
namespace {

constexpr int kLettersOfStrategy = 13, kLettersOfName = 7;  // of a field in a narrow window

/// A setting that stands in the line itself, with a short label; the other settings of a case stand
/// behind the button.
struct BarField {
  std::string_view key;
  const char* label;
  int letters;
};
constexpr std::array<BarField, 7> kBarFields = {
    {{"model", QT_TR_NOOP("Network"), kLettersOfName},
     {"cluster", QT_TR_NOOP("on"), kLettersOfName},
     {"batch_per_device", QT_TR_NOOP("batch a device"), 0},
     {"sync", QT_TR_NOOP("sync"), 4},
     {"bucket", "", 6},
     {"dtype", QT_TR_NOOP("in"), 4},
     {"strategy", QT_TR_NOOP("Strategy"), kLettersOfStrategy}}};

// In the order in which labels give way in a narrow window, the last ones first.
constexpr std::array<std::string_view, 6> kLabelled = {
    "batch_per_device", "strategy", "sync", "model", "cluster", "dtype"};

std::vector<std::string_view> others_of(SettingGroup group) {
  std::vector<std::string_view> keys = keys_of(group);
  std::erase_if(keys, [](std::string_view key) {
    return std::ranges::find(kBarFields, key, &BarField::key) != kBarFields.end();
  });
  return keys;
}

SettingsButton* make_more(Workspace& workspace) {
  return new SettingsButton(
      workspace, QStringLiteral("more"), CaseBar::tr("More"),
      CaseBar::tr("How it trains, what its costs are from, and how it is simulated"),
      {{CaseBar::tr("Training"), others_of(SettingGroup::training)},
       {CaseBar::tr("Costs"), others_of(SettingGroup::costs)},
       {CaseBar::tr("Simulation"), others_of(SettingGroup::simulation)}});
}

}  // namespace

CaseBar::CaseBar(Workspace& workspace, QWidget* parent)
    : QToolBar(tr("Case"), parent),
      workspace_(workspace),
      row_(new QWidget(this)),
      line_(new QHBoxLayout(row_)),
      more_(make_more(workspace)) {
  setObjectName(QStringLiteral("case_bar"));
  setMovable(false);
  line_->setContentsMargins(0, 0, 4, 0);
  row_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  row_->setMinimumWidth(1);
  for (const BarField& each : kBarFields) add_field(each.key, tr(each.label), each.letters);
  QComboBox& strategy = *field("strategy").box();
  strategy.setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  field("strategy")
      .setMinimumWidth(strategy.sizeHint().width() * kLettersOfName / kLettersOfStrategy);
  line_->addWidget(more_);
  connect(more_, &SettingsButton::resized, this, &CaseBar::fit);
  line_->addStretch(1);
  fields_ = addWidget(row_);
  make_nothing();
  connect(&workspace_, &Workspace::document_changed, this, &CaseBar::show_document);
  show_document();
}

void CaseBar::add_field(std::string_view key, const QString& label, int letters) {
  auto* added = new SettingField(setting(key), row_);
  if (QComboBox* const box = added->box()) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    box->setMinimumContentsLength(letters);
  }
  added->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  if (!label.isEmpty()) {
    auto* text = new QLabel(label, row_);
    text->setBuddy(added->editor());
    line_->addWidget(text);
    labels_.push_back(text);
  }
  line_->addWidget(added);
  bar_fields_.push_back(added);
  tie(*added, workspace_);
  connect(added, &SettingField::entered, this, &CaseBar::entered);
}

SettingField& CaseBar::field(std::string_view key) const {
  return **std::ranges::find(bar_fields_, key,
                             [](const SettingField* each) { return each->spec().key; });
}

void CaseBar::focus_model() {
  QComboBox* const model = field("model").box();
  model->setFocus(Qt::ShortcutFocusReason);
  model->lineEdit()->selectAll();
}

void CaseBar::make_nothing() {
  auto* text = new QLabel(
      tr(" Nothing is on the desk: <a href='file'>open a file</a> or <a href='example'>the paper's "
         "example</a>."));
  text->setObjectName(QStringLiteral("nothing"));
  connect(text, &QLabel::linkActivated, this, [this](const QString& link) {
    link == QLatin1String("file") ? emit file_wanted() : emit example_wanted();
  });
  nothing_ = addWidget(text);
}

// In a narrow window fields stand without their labels, first those whose values speak for
// themselves: no field is ever hidden.
void CaseBar::fit() {
  const SettingField& strategy = field("strategy");
  int left = row_->width() - least_width() - strategy.sizeHint().width() + strategy.minimumWidth();
  for (const std::string_view key : kLabelled) {
    const auto label = std::ranges::find(labels_, field(key).editor(), &QLabel::buddy);
    if (label == labels_.end()) continue;
    left -= (*label)->sizeHint().width() + line_->spacing();
    (*label)->setVisible(left >= 0);
  }
}

int CaseBar::least_width() const {
  int least = line_->contentsMargins().left() + line_->contentsMargins().right();
  const auto add = [&](const QWidget& one) {
    const int set = one.minimumWidth();
    least += (set > 0 ? set : one.minimumSizeHint().width()) + line_->spacing();
  };
  for (const SettingField* each : bar_fields_) add(*each);
  add(*more_);
  return least;
}

// A tool bar would hide what it has no room for.
QSize CaseBar::minimumSizeHint() const {
  constexpr int kEdges = 16;
  return {least_width() + kEdges, QToolBar::minimumSizeHint().height()};
}

void CaseBar::resizeEvent(QResizeEvent* event) {
  QToolBar::resizeEvent(event);
  fit();
}

void CaseBar::show_document() {
  const Document& document = workspace_.document();
  nothing_->setVisible(document.empty());
  fields_->setVisible(!document.empty());
  if (document.empty()) return;
  field("bucket").setEnabled(document.input.training.sync.algorithm != SyncAlgorithm::ps);
  field("bucket").editor()->setEnabled(field("bucket").isEnabled());
  show_batch();
  fit();
}

// The batch of all devices counts where it is set.
void CaseBar::show_batch() {
  const Document& document = workspace_.document();
  QSpinBox& batch = *field("batch_per_device").spin();
  batch.setSuffix(document.input.training.batch
                      ? tr(" (set: %1 in all)").arg(*document.input.training.batch)
                      : QString());
  const int arrows = batch.fontMetrics().height() * 2;
  const QString least = batch.text() + QString(2, QLatin1Char('0'));
  batch.setMinimumWidth(batch.fontMetrics().horizontalAdvance(least) + arrows);
}

}  // namespace strata::gui
