#include "gui/models/graphviz.h"

namespace strata::gui {

std::unique_lock<std::mutex> graphviz_turn() {
  static std::mutex turn;
  return std::unique_lock(turn);
}

}  // namespace strata::gui
