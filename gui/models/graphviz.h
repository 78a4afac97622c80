#pragma once

// Graphviz keeps its state in globals: one layout at a time in the whole program. Thread-safe.

#include <mutex>

namespace strata::gui {

/// Held by whoever calls Graphviz.
std::unique_lock<std::mutex> graphviz_turn();

}  // namespace strata::gui
