#pragma once

// What kind of work a task is, as views tell it: finer than TaskKind, for a task of one kind does
// different work in different phases. Pure functions; thread-safe.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/plan/plan.h"

namespace strata::gui {

enum class WorkKind : std::uint8_t {
  forward,
  backward,
  update,
  transfer,
  sync,
  statistics,
  waiting
};
inline constexpr std::size_t kWorkKinds = 7;
std::string_view name(WorkKind kind);
WorkKind work_kind(const Task& task);

}  // namespace strata::gui
