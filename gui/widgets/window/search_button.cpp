#include "gui/widgets/window/search_button.h"

namespace strata::gui {
namespace {

constexpr int kRoom = 16;  // pixels beside the text

}  // namespace

SearchButton::SearchButton(Jobs& jobs, QWidget* parent) : QPushButton(parent), jobs_(jobs) {
  setObjectName(QStringLiteral("find_fastest"));
  QFont bold = font();
  bold.setBold(true);
  setFont(bold);
  connect(this, &QPushButton::clicked, this, &SearchButton::find_or_stop);
  connect(&jobs_, &Jobs::changed, this, &SearchButton::show_state);
  show_state();
  setMinimumWidth(sizeHint().width() + kRoom);  // nothing beside it moves when it says Stop
}

void SearchButton::find_or_stop() {
  jobs_.busy(kSearchLane) ? jobs_.stop(kSearchLane) : emit fastest_wanted();
}

void SearchButton::show_state() {
  const bool busy = jobs_.busy(kSearchLane);
  setText(busy ? tr("Stop") : tr("Find fastest"));
  setToolTip(busy ? tr("Ends the search: the best strategy so far is its answer")
                  : tr("Searches for the strategy with the fastest simulated step that the devices "
                       "have the memory for, and proves how far from the fastest it may be "
                       "(Ctrl+Return)"));
}

}  // namespace strata::gui
