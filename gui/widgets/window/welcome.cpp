#include "gui/widgets/window/welcome.h"

#include <QCommandLinkButton>
#include <QFileInfo>
#include <QFont>
#include <QLabel>
#include <QVBoxLayout>

#include "gui/widgets/scrolled_content.h"

namespace strata::gui {
namespace {

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

}  // namespace

Document paper_example() {
  Document document;
  document.input.model = "vgg16";
  document.input.cluster = "p100-4x4";
  return document;
}

Welcome::Welcome(const std::optional<Document>& last, const QStringList& recent, QWidget* parent)
    : QWidget(parent) {
  setObjectName(QStringLiteral("welcome"));
  auto* page = new QWidget;
  auto* row = new QHBoxLayout(page);
  row->addStretch(1);
  row->addWidget(ways(last, recent), 2);
  row->addStretch(1);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(new ScrolledContent(page, this));
  const auto ways = findChildren<QCommandLinkButton*>();
  for (qsizetype i = 1; i < ways.size(); ++i) setTabOrder(ways[i - 1], ways[i]);
  setFocusProxy(ways.front());
}

QWidget* Welcome::ways(const std::optional<Document>& last, const QStringList& recent) {
  auto* page = new QWidget;
  page->setMaximumWidth(640);
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
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    button->setAutoDefault(true);  // Return, not only the space bar
    connect(button, &QCommandLinkButton::clicked, this, taken);
    column->addWidget(button);
    return button;
  };
  if (last) {
    auto* button = way(tr("Go on with %1").arg(QString::fromStdString(last->name())),
                       tr("As the last session left it, strategy %1.")
                           .arg(QString::fromStdString(last->strategy.label())),
                       [this] { emit go_on_wanted(); });
    button->setObjectName(QStringLiteral("go_on"));
    button->setToolTip(QString::fromStdString(case_arguments(*last) + strategy_argument(*last)));
  }
  way(tr("The paper's example"), tr("VGG-16 on four hosts with four P100 each."), [this] {
    emit document_wanted(paper_example());
  })->setObjectName(QStringLiteral("paper_example"));
  way(tr("Open a file…"),
      tr("A network, a cluster or a scenario (.toml), a strategy or a trace (.json), a database of "
         "results (.db). Files can be dropped on the window, too."),
      [this] { emit file_wanted({}); })
      ->setObjectName(QStringLiteral("open_file"));
  for (const QString& file : recent) {
    way(QFileInfo(file).fileName(), {}, [this, file] { emit file_wanted(file); })->setToolTip(file);
  }
  column->addSpacing(12);
  column->addWidget(paragraph(tr("Press ? for the keys, Ctrl+Shift+P for everything there is.")));
  column->addStretch(3);
  return page;
}

}  // namespace strata::gui
