#include "gui/models/read_file.h"

#include <fmt/format.h>

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

// Opaque ops where there must be some: the table of layers names them. Throws InputError where not
// even that helps.
Unsupported needed_by(const std::string& file) try {
  load_model(file, 1);
  return Unsupported::refuse;
} catch (const InputError&) {
  load_model(file, 1, Unsupported::opaque);
  return Unsupported::opaque;
}

Document read_session(const std::string& file) {
  Document document = parse_document(read_file(file), file);
  load_case(document.input);
  return document;
}

Document with_profile(Document document, const std::string& file) {
  document.input.profiles.push_back(file);
  return document;
}

}  // namespace

bool ReadFile::is_part() const {
  switch (kind) {
    case FileKind::model:
    case FileKind::onnx:
    case FileKind::cluster:
    case FileKind::profile:
    case FileKind::strategy:
      return true;
    default:
      return false;
  }
}

ReadFile read_for(const std::string& file, const Document& desk) {
  ReadFile read{file, kind_of_file(file)};
  switch (read.kind) {
    case FileKind::model:
      read_model(file, 1);
      break;
    case FileKind::onnx:
      read.unsupported = needed_by(file);
      break;
    case FileKind::cluster:
      read_cluster(file);
      break;
    case FileKind::profile:
      read_profile(file);
      break;
    case FileKind::strategy:
      load_strategy(file, load_case(with_part(desk, read).input));
      break;
    case FileKind::session:
      read.session = read_session(file);
      break;
    case FileKind::unknown:
      throw InputError(unknown_file(file));
    default:
      break;
  }
  return read;
}

Document with_part(const Document& desk, const ReadFile& part) {
  const bool strategy = part.kind == FileKind::strategy;
  Document next = !desk.empty() ? desk : strategy ? case_of_strategy(part.file) : usual_document();
  if (strategy) {
    next.strategy = {part.file};
    return next;
  }
  if (part.kind == FileKind::cluster) return next.with_cluster(part.file);
  if (part.kind == FileKind::profile) return with_profile(std::move(next), part.file);
  next = next.with_model(part.file);
  next.input.unsupported = part.unsupported;
  return next;
}

}  // namespace strata::gui
