// Files are opened in the background: read and checked there, then shown.

#include <QFileInfo>

#include <fmt/format.h>

#include "gui/models/file_kind.h"
#include "gui/widgets/window/main_window.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"

namespace strata::gui {
namespace {

struct ReadFiles {
  std::vector<ReadFile> read;
  QStringList errors;
};

// Each on the desk as those before it make it. What cannot be read leaves it as it is.
ReadFiles read_all(const std::vector<std::string>& files, Document desk, const Progress& progress) {
  ReadFiles all;
  for (const std::string& file : files) {
    throw_if_cancelled(progress.cancelled());
    try {
      const ReadFile& read = all.read.emplace_back(read_for(file, desk));
      if (read.is_part()) desk = with_part(desk, read);
      if (read.session) desk = read.session->document;
    } catch (const Error& error) {
      all.errors << QString::fromStdString(error.message());
    }
  }
  return all;
}

}  // namespace

void MainWindow::open_files(const QStringList& files) {
  if (files.isEmpty()) return;
  std::vector<std::string> whole;
  whole.reserve(static_cast<std::size_t>(files.size()));
  for (const QString& file : files) {
    const std::string name = file.toStdString();
    whole.push_back(is_named(name) ? name : QFileInfo(file).absoluteFilePath().toStdString());
  }
  workspace_.jobs().start(
      this, QStringLiteral("open ") + files.join(' '), tr("Opening %1").arg(files.join(' ')),
      [this, whole, desk = workspace_.document()](Progress& progress) -> Jobs::Show {
        return [this, all = read_all(whole, desk, progress)] {
          QStringList errors = all.errors;
          for (const ReadFile& read : all.read) {
            try {
              take_file(read);
            } catch (const Error& error) {
              errors << QString::fromStdString(error.message());
            }
          }
          show_error(errors.join('\n'));
        };
      },
      [this](const QString& message) { show_error(message); });
}

// A part of a case is an edit of what is on the desk; on an empty desk it opens one. What a view
// takes it reads in the background, and says when it is there (View::opened).
void MainWindow::take_file(const ReadFile& read) {
  const QString file = QString::fromStdString(read.file);
  if (read.kind == FileKind::trace) return offer_to_view(QStringLiteral("timeline"), file);
  if (!read.is_part() && !read.session) return offer_to_view(QStringLiteral("sweep"), file);
  if (read.session) {
    open_desk(*read.session);
  } else if (workspace_.document().empty()) {
    open_document(with_part({}, read));
  } else {
    workspace_.edit_and_read_anew(
        tr("%1 opened").arg(QString::fromStdString(shown_name(read.file))),
        with_part(workspace_.document(), read));
  }
  if (QFileInfo::exists(file)) remember(file);
}

void MainWindow::offer_to_view(const QString& id, const QString& file) {
  View* const taker = view(id);
  if (!taker->open(file)) {
    throw InputError(
        fmt::format("{}: {} does not show it", file.toStdString(), taker->title().toStdString()));
  }
  show_views();
  bring_to_front(taker);
}

}  // namespace strata::gui
