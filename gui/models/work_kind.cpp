#include "gui/models/work_kind.h"

#include <array>

namespace strata::gui {

std::string_view name(WorkKind kind) {
  constexpr std::array<std::string_view, kWorkKinds> kNames = {
      "forward", "backward", "update", "transfer", "sync", "statistics", "waiting"};
  return kNames[static_cast<std::size_t>(kind)];
}

WorkKind work_kind(const Task& task) {
  if (task.kind == TaskKind::join) return WorkKind::waiting;
  if (task.kind == TaskKind::compute) {
    if (task.phase == Phase::update) return WorkKind::update;
    return task.phase == Phase::forward ? WorkKind::forward : WorkKind::backward;
  }
  if (task.phase == Phase::update) return WorkKind::sync;
  return task.kind == TaskKind::transfer ? WorkKind::transfer : WorkKind::statistics;
}

}  // namespace strata::gui
