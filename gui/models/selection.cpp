#include "gui/models/selection.h"

#include <algorithm>
#include <utility>

namespace strata::gui {
namespace {

/// Whether that was another value.
template <class T>
bool replaced(T& old, T next) {
  if (old == next) return false;
  old = std::move(next);
  return true;
}

}  // namespace

bool Selection::has_layer(LayerId layer) const {
  return std::binary_search(layers_.begin(), layers_.end(), layer);
}

void Selection::select_layers(std::vector<LayerId> layers) {
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  if (replaced(layers_, std::move(layers))) emit layers_changed();
}

void Selection::select_device(std::optional<DeviceId> device) {
  if (replaced(device_, device)) emit device_changed();
}

void Selection::select_link(std::optional<LinkId> link) {
  if (replaced(link_, link)) emit link_changed();
}

void Selection::select_task(std::optional<PickedTask> task) {
  if (replaced(task_, task)) emit task_changed();
}

void Selection::select_range(std::optional<TimeRange> range) {
  if (replaced(range_, range)) emit range_changed();
}

void Selection::clear() {
  select_task(std::nullopt);
  select_range(std::nullopt);
  select_device(std::nullopt);
  select_link(std::nullopt);
  select_layers({});
}

}  // namespace strata::gui
