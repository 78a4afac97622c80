#include "gui/widgets/window/key_list.h"

#include <QTextBrowser>
#include <QVBoxLayout>

#include "gui/widgets/window/command_palette.h"

namespace strata::gui {
namespace {

QString row(const QString& keys, const QString& what) {
  return QStringLiteral("<tr><td style='padding-right:24px'><b>%1</b></td><td>%2</td></tr>")
      .arg(keys.toHtmlEscaped(), what.toHtmlEscaped());
}

QString section(const QString& title, const QString& rows) {
  return QStringLiteral("<h3>%1</h3><table>%2</table>").arg(title.toHtmlEscaped(), rows);
}

}  // namespace

KeyList::KeyList(const std::vector<QAction*>& actions, const std::vector<View*>& views,
                 QWidget* parent)
    : QDialog(parent) {
  setObjectName(QStringLiteral("keys"));
  setWindowTitle(tr("Keys"));
  QString rows, text;
  for (const QAction* action : actions) {
    if (action->shortcut().isEmpty()) continue;
    rows += row(action->shortcut().toString(QKeySequence::NativeText), plain_name(*action));
  }
  text += section(tr("Everywhere"), rows);
  for (const View* view : views) {
    rows.clear();
    for (const KeyHelp& help : view->keys()) rows += row(help.keys, help.what);
    if (!rows.isEmpty()) text += section(view->title(), rows);
  }
  auto* browser = new QTextBrowser;
  browser->setHtml(text);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(browser);
  resize(560, 640);
}

}  // namespace strata::gui
