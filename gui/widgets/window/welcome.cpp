#include "gui/widgets/window/welcome.h"

#include <QCommandLinkButton>
#include <QFileInfo>
#include <QFont>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/text.h"
#include "gui/widgets/scrolled_content.h"

namespace strata::gui {
namespace {

constexpr int kWidth = 640;

QLabel* heading(const QString& text, double scale) {
  auto* label = new QLabel(text);
  QFont font = label->font();
  font.setPointSizeF(font.pointSizeF() * scale);
  font.setBold(true);
  label->setFont(font);
  return label;
}

QLabel* paragraph(const QString& text) {
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  return label;
}

QString age_of(const LeftSession& left) {
  return human_age(std::chrono::seconds(left.saved.secsTo(QDateTime::currentDateTime())));
}

}  // namespace

QStringList folders_that_tell(const QStringList& files) {
  QStringList folders;
  for (const QString& file : files) {
    const QString name = QFileInfo(file).fileName();
    const auto alike = std::count_if(files.begin(), files.end(), [&](const QString& other) {
      return QFileInfo(other).fileName() == name;
    });
    folders << (alike > 1 ? QFileInfo(file).path() : QString());
  }
  return folders;
}

Welcome::Welcome(const std::vector<LeftSession>& left, const QStringList& recent, QWidget* parent)
    : QWidget(parent) {
  setObjectName(QStringLiteral("welcome"));
  auto* page = new QWidget;
  auto* row = new QHBoxLayout(page);
  row->addStretch(1);
  row->addWidget(ways(left, recent), 2);
  row->addStretch(1);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(new ScrolledContent(page, this));
  const auto ways = findChildren<QCommandLinkButton*>();
  for (qsizetype i = 1; i < ways.size(); ++i) setTabOrder(ways[i - 1], ways[i]);
  setFocusProxy(ways.front());
}

QWidget* Welcome::ways(const std::vector<LeftSession>& left, const QStringList& recent) {
  auto* page = new QWidget;
  page->setMaximumWidth(kWidth);
  auto* column = new QVBoxLayout(page);
  column->setSpacing(10);
  column->addStretch(2);
  column->addWidget(heading(QStringLiteral("Strata"), 2.4));
  column->addWidget(paragraph(
      tr("How fast will one training step of a network be, cut over many devices, and which way of "
         "cutting it is the fastest?")));
  column->addSpacing(12);
  const auto way = [&](const QString& name, const QString& what, const auto& taken) {
    auto* button = new QCommandLinkButton(name, what);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);  // as high as its text is at its width
    button->setSizePolicy(policy);
    button->setAutoDefault(true);  // Return, not only the space bar
    connect(button, &QCommandLinkButton::clicked, this, taken);
    column->addWidget(button);
    return button;
  };
  for (const LeftSession& one : left) {
    const QString name = QString::fromStdString(one.desk.document.name());
    const QString strategy = QString::fromStdString(one.desk.document.strategy.label());
    const bool newest = &one == &left.front();
    auto* button = way(
        newest ? tr("Go on with %1").arg(name) : tr("Or with %1, left %2").arg(name, age_of(one)),
        newest ? tr("As it was left %1, strategy %2.").arg(age_of(one), strategy) : QString(),
        [this, one] { emit go_on_wanted(one); });
    button->setObjectName(QStringLiteral("go_on"));
    button->setToolTip(QString::fromStdString(case_arguments(one.desk.document) +
                                              strategy_argument(one.desk.document)));
  }
  way(tr("The paper's example"),
      tr("VGG-16 on four hosts with four P100 each, which sum gradients on parameter servers."),
      [this] { emit document_wanted(paper_example()); })
      ->setObjectName(QStringLiteral("paper_example"));
  way(tr("Open a file…"),
      tr("A network (.toml, .onnx), a cluster or a scenario (.toml), a strategy or a trace "
         "(.json), "
         "a database of results (.db). Files can be dropped on the window, too."),
      [this] { emit file_wanted({}); })
      ->setObjectName(QStringLiteral("open_file"));
  const QStringList folders = folders_that_tell(recent);
  for (qsizetype i = 0; i < recent.size(); ++i) {
    const QString& file = recent[i];
    const QString folder = fontMetrics().elidedText(folders[i], Qt::ElideLeft, kWidth / 2);
    way(QFileInfo(file).fileName(), folder, [this, file] {
      emit file_wanted(file);
    })->setToolTip(file);
  }
  column->addSpacing(12);
  column->addWidget(paragraph(tr("Press ? for the keys, Ctrl+Shift+P for everything there is.")));
  column->addStretch(3);
  return page;
}

}  // namespace strata::gui
