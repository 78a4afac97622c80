#include "gui/widgets/window/more_fields.h"

#include <QApplication>
#include <QFormLayout>
#include <QSignalBlocker>
#include <array>
#include <string_view>
#include <utility>

#include "sim/base/error.h"
#include "sim/case/rounds.h"
#include "sim/scenario/settings.h"
#include "sim/strategy/schedule.h"

namespace strata::gui {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {"zero",        "offload",  "optimizer",
                                                   "micro_batch", "schedule", "recompute"};
constexpr int kLettersOfSchedule = 14;

QString in_words(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QStringList choices_of(std::string_view key) {
  QStringList words;
  for (const std::string_view word : setting(key).choices) words << in_words(word);
  return words;
}

QString usual_words() {
  return MoreFields::tr("usual");
}

QStringList schedules() {
  return QStringList{usual_words()} +
         QString::fromStdString(schedule_names()).split(QStringLiteral(", "));
}

void show_in(QComboBox& box, const QString& text) {
  const QSignalBlocker blocker(box);
  box.setCurrentIndex(box.findText(text));
}

// " --optimizer adam --recompute full": a blank before each.
QString options_of(const CaseRequest& input) {
  return QString::fromStdString(setting_options(input, kKeys));
}

}  // namespace

MoreFields::MoreFields(Workspace& workspace, QWidget* parent)
    : QToolButton(parent),
      workspace_(workspace),
      panel_(new QFrame(this, Qt::Popup)),
      micro_batch_(new QLineEdit) {
  setObjectName(QStringLiteral("more"));
  setFocusPolicy(Qt::TabFocus);
  setAutoRaise(true);
  panel_->setObjectName(QStringLiteral("more_fields"));
  panel_->setFrameShape(QFrame::StyledPanel);
  new QFormLayout(panel_);
  optimizer_ = choice(tr("Optimizer"), "optimizer", choices_of("optimizer"));
  zero_ = choice(tr("ZeRO"), "zero", choices_of("zero"));
  offload_ = choice(tr("Offload"), "offload", choices_of("offload"));
  micro_batch_->setObjectName(QStringLiteral("micro_batch"));
  micro_batch_->setPlaceholderText(tr("one round"));
  micro_batch_->setToolTip(in_words(setting("micro_batch").help));
  static_cast<QFormLayout*>(panel_->layout())->addRow(tr("Micro-batch"), micro_batch_);
  schedule_ = choice(tr("Schedule"), "schedule", schedules());
  schedule_->setEditable(true);
  schedule_->setInsertPolicy(QComboBox::NoInsert);
  schedule_->setMinimumContentsLength(kLettersOfSchedule);
  recompute_ = choice(tr("Recompute"), "recompute", choices_of("recompute"));
  connect(optimizer_, &QComboBox::textActivated, this, [this](const QString& text) {
    commit(tr("optimizer %1").arg(text), [&](CaseRequest& input) {
      read_setting("optimizer", text.toStdString(), input.training.optimizer);
    });
  });
  connect(zero_, &QComboBox::textActivated, this, [this](const QString& text) {
    commit(tr("ZeRO %1").arg(text), [&](CaseRequest& input) {
      read_setting("zero", text.toStdString(), input.training.sync.zero);
    });
  });
  connect(offload_, &QComboBox::textActivated, this, [this](const QString& text) {
    commit(tr("offload %1").arg(text), [&](CaseRequest& input) {
      read_setting("offload", text.toStdString(), input.training.sync.offload);
    });
  });
  connect(recompute_, &QComboBox::textActivated, this, [this](const QString& text) {
    commit(tr("recompute %1").arg(text), [&](CaseRequest& input) {
      read_setting("recompute", text.toStdString(), input.training.recompute);
    });
  });
  connect(micro_batch_, &QLineEdit::editingFinished, this, &MoreFields::commit_micro_batch);
  // textActivated: chosen from the list, or typed and Enter, if it is in the list.
  connect(schedule_, &QComboBox::textActivated, this, &MoreFields::commit_schedule);
  connect(schedule_->lineEdit(), &QLineEdit::returnPressed, this,
          [this] { commit_schedule(schedule_->currentText()); });
  connect(this, &QToolButton::clicked, this, &MoreFields::open);
  connect(&workspace_, &Workspace::document_changed, this, &MoreFields::show_document);
  show_document();
}

QComboBox* MoreFields::choice(const QString& label, const char* key, const QStringList& choices) {
  auto* box = new QComboBox;
  box->setObjectName(QLatin1String(key));
  box->setAccessibleName(label);
  box->addItems(choices);
  box->setToolTip(in_words(setting(key).help));
  static_cast<QFormLayout*>(panel_->layout())->addRow(label, box);
  return box;
}

void MoreFields::open() {
  panel_->adjustSize();
  panel_->move(mapToGlobal(QPoint(width() - panel_->width(), height())));
  panel_->show();
  optimizer_->setFocus();
}

void MoreFields::commit(const QString& what, const std::function<void(CaseRequest&)>& change) {
  if (workspace_.document().empty()) return;
  Document next = workspace_.document();
  change(next.input);
  if (next != workspace_.document()) workspace_.edit(what, std::move(next));
}

void MoreFields::fail(const QString& message) {
  show_document();
  emit workspace_.failed(message);
}

// Empty: the batch at once.
void MoreFields::commit_micro_batch() try {
  const QString text = micro_batch_->text().trimmed();
  if (text.isEmpty()) {
    return commit(tr("one round"), [](CaseRequest& input) { input.training.micro_batch.reset(); });
  }
  const auto samples = read_setting<std::int64_t>("micro_batch", text.toStdString());
  commit(tr("micro-batch %1").arg(samples),
         [&](CaseRequest& i) { i.training.micro_batch = samples; });
} catch (const InputError& error) {
  fail(QString::fromStdString(error.message()).remove(QLatin1Char('`')));
}

// By name, or a file: what there is none of changes nothing.
void MoreFields::commit_schedule(const QString& text) {
  const std::string& now = workspace_.document().input.training.schedule;
  std::string name = text.trimmed().toStdString();
  if (text == usual_words()) name.clear();
  if (name == now || name == shown_name(now)) return;
  workspace_.jobs().start(
      this, QStringLiteral("case schedule"), tr("Loading %1").arg(text),
      [this, name](Progress&) -> Jobs::Show {
        read_schedule_choice(name);
        return [this, name] {
          commit(tr("schedule %1").arg(name.empty() ? usual_words() : QString::fromStdString(name)),
                 [&](CaseRequest& input) { input.training.schedule = name; });
        };
      },
      [this](const QString& message) { fail(message); });
}

void MoreFields::show_document() {
  const CaseRequest& input = workspace_.document().input;
  show_in(*optimizer_,
          QString::fromStdString(print_setting("optimizer", input.training.optimizer)));
  show_in(*zero_, QString::fromStdString(print_setting("zero", input.training.sync.zero)));
  show_in(*offload_, QString::fromStdString(print_setting("offload", input.training.sync.offload)));
  show_in(*recompute_,
          QString::fromStdString(print_setting("recompute", input.training.recompute)));
  micro_batch_->setText(
      QString::fromStdString(print_setting("micro_batch", input.training.micro_batch)));
  const QString schedule = input.training.schedule.empty()
                               ? usual_words()
                               : QString::fromStdString(shown_name(input.training.schedule));
  show_in(*schedule_, schedule);
  schedule_->setEditText(schedule);
  const QString options = options_of(input);
  const auto changed = options.count(QStringLiteral(" --"));
  setText(changed == 0 ? tr("More") : tr("More: %1").arg(changed));
  setToolTip(tr("Optimizer, ZeRO, offload, micro-batch, schedule, recomputation") +
             (changed == 0 ? QString() : QStringLiteral(":") + options));
  emit resized();
}

}  // namespace strata::gui
