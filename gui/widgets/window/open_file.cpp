// What the window does with a file: by what is in it, whatever it is called.

#include <QFileInfo>

#include <fmt/format.h>

#include "gui/models/file_kind.h"
#include "gui/widgets/window/main_window.h"
#include "sim/base/error.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/graph/model_file.h"
#include "sim/graph/zoo.h"
#include "sim/profile/profile.h"
#include "sim/strategy/strategy_file.h"
#include "sim/study/search/solve.h"
#include "sim/text/file.h"

namespace strata::gui {
namespace {

Document or_usual(const Document& document) {
  return document.empty() ? usual_document() : document;
}

Document with_model(Document document, const std::string& file,
                    Unsupported unsupported = Unsupported::refuse) {
  document = or_usual(document);
  document.input.model = file;
  document.input.unsupported = unsupported;
  if (document.strategy.edited()) document.strategy = {};
  document.locked.clear();
  return document;
}

bool is_preset(const std::string& cluster) try {
  preset_cluster(cluster);
  return true;
} catch (const InputError&) {
  return false;
}

// On an empty desk it lies on what it says that it is for. What does not come with Strata is known
// to it by its name, and not by its file.
Document case_of_strategy(const std::string& file) {
  const auto [model, cluster] = read_strategy_names(file);
  const auto check = [&](bool known, std::string_view what, const std::string& name) {
    if (known || name.empty()) return;
    throw InputError(fmt::format("{}: it is for the {} {}; allowed: open the file of that first",
                                 file, what, name));
  };
  check(in_zoo(model), "network", model);
  check(is_preset(cluster), "cluster", cluster);
  Document document = usual_document();
  if (!model.empty()) document.input.model = model;
  return cluster.empty() ? document : document.with_cluster(cluster);
}

Document with_strategy(Document document, const std::string& file) {
  if (document.empty()) document = case_of_strategy(file);
  document.strategy = {file, {}};
  return document;
}

Document with_profile(Document document, const std::string& file) {
  document = or_usual(document);
  document.input.profiles.push_back(file);
  return document;
}

// Opaque ops where there must be some: the table of layers names them. Throws InputError where not
// even that helps.
Unsupported needed_by(const std::string& file) try {
  load_model(file, 1);
  return Unsupported::refuse;
} catch (const InputError&) {
  load_model(file, 1, Unsupported::opaque);
  return Unsupported::opaque;
}

// What cannot be read leaves the desk as it is.
void check_part(const std::string& file, const Document& document) {
  switch (kind_of_file(file)) {
    case FileKind::model:
      read_model(file, 1);
      return;
    case FileKind::cluster:
      read_cluster(file);
      return;
    case FileKind::profile:
      read_profile(file);
      return;
    case FileKind::onnx:  // needed_by() has read it
      return;
    default:
      load_strategy(file, load_case(document.input));
  }
}

}  // namespace

bool MainWindow::open_files(const QStringList& files) {
  QStringList errors;
  for (const QString& file : files) {
    const QString whole = QFileInfo(file).absoluteFilePath();
    try {
      if (open_by_kind(whole.toStdString())) remember(whole);
    } catch (const Error& error) {
      errors << QString::fromStdString(error.message());
    }
  }
  show_error(errors.join('\n'));
  return errors.empty();
}

// A part of a case is an edit of what is on the desk; on an empty desk it opens one. Whether it is
// there already: what a view takes it reads in the background (View::opened).
bool MainWindow::open_by_kind(const std::string& file) {
  const auto take = [&](const Document& next) {
    check_part(file, next);
    if (workspace_.document().empty()) {
      open_document(next);
    } else {
      workspace_.edit_and_read_anew(tr("%1 opened").arg(QString::fromStdString(shown_name(file))),
                                    next);
    }
    return true;
  };
  const Document& now = workspace_.document();
  switch (kind_of_file(file)) {
    case FileKind::model:
      return take(with_model(now, file));
    case FileKind::cluster:
      return take(or_usual(now).with_cluster(file));
    case FileKind::strategy:
      return take(with_strategy(now, file));
    case FileKind::profile:
      return take(with_profile(now, file));
    case FileKind::session: {
      const Document document = parse_document(read_file(file), file);
      load_case(document.input);
      open_document(document);
      return true;
    }
    case FileKind::database:
    case FileKind::scenario:
      return offer_to_views(QString::fromStdString(file), {"sweep"});
    case FileKind::trace:
      return offer_to_views(QString::fromStdString(file), {"timeline"});
    case FileKind::onnx:
      return take(with_model(now, file, needed_by(file)));
    default:
      throw InputError(unknown_file(file));
  }
}

bool MainWindow::offer_to_views(const QString& file, const QStringList& ids) {
  for (const QString& id : ids) {
    View* const taker = view(id);
    if (taker == nullptr || !taker->open(file)) continue;
    show_views();
    bring_to_front(taker);
    return false;
  }
  throw InputError(fmt::format("{}: no view shows {}", file.toStdString(),
                               name(kind_of_file(file.toStdString()))));
}

}  // namespace strata::gui
