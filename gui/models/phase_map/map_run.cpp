#include "gui/models/phase_map/map_run.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "sim/base/parallel.h"

namespace strata::gui {
namespace {

constexpr int kTakeEvery = 100;  // milliseconds
constexpr QLatin1String kMapLane("phase_map");

}  // namespace

/// What a run tells from its threads, and has not been looked at.
struct MapRun::Found {
  std::mutex lock;
  std::vector<std::pair<std::size_t, MapCell>> cells;

  void add(std::size_t place, const MapCell& cell) {
    const std::scoped_lock guard(lock);
    cells.emplace_back(place, cell);
  }
  std::vector<std::pair<std::size_t, MapCell>> take() {
    const std::scoped_lock guard(lock);
    return std::exchange(cells, {});
  }
};

MapRun::MapRun(Jobs& jobs, QObject* parent) : QObject(parent), jobs_(jobs) {
  timer_.setInterval(kTakeEvery);
  connect(&timer_, &QTimer::timeout, this, &MapRun::look);
  connect(&jobs_, &Jobs::changed, this, [this] {
    if (timer_.isActive()) look();
  });
}

MapRun::~MapRun() {
  stop();
}

bool MapRun::running() const {
  return timer_.isActive();
}

void MapRun::clear(const PhaseMapRequest& request) {
  request_ = request;
  map_ = {request.x, request.y, request.strategies, {}};
  map_.cells.resize(request.x.values.size() * request.y.values.size());
  known_.assign(map_.cells.size(), 0);
  count_ = 0;
}

void MapRun::start(const PhaseMapRequest& request) {
  clear(request);
  // One core is left to the window.
  request_.threads = std::max(1U, core_count() - 1);
  found_ = std::make_shared<Found>();
  jobs_.start(
      this, kMapLane, tr("Mapping which strategy wins"),
      [request = request_, found = found_](Progress& progress) -> Jobs::Show {
        const std::size_t cells = request.x.values.size() * request.y.values.size();
        std::size_t known = 0;
        phase_map(request, progress.cancelled(), [&](std::size_t place, const MapCell& cell) {
          found->add(place, cell);
          ++known;
          progress.report(static_cast<double>(known) / static_cast<double>(cells),
                          fmt::format("{} of {} cells", known, cells));
        });
        return [] {};
      },
      [this, found = found_](const QString& message) {
        if (found != found_) return;
        clear({});
        emit failed(message);
      });
  timer_.start();
  emit changed();
}

void MapRun::stop() {
  if (running()) jobs_.cancel(kMapLane);
}

void MapRun::look() {
  const bool ended = !jobs_.busy(kMapLane);
  const auto cells = found_->take();
  for (const auto& [place, cell] : cells) {
    if (place >= map_.cells.size()) continue;  // it failed meanwhile
    map_.cells[place] = cell;
    known_[place] = 1;
    ++count_;
  }
  if (ended) timer_.stop();
  if (ended || !cells.empty()) emit changed();
}

}  // namespace strata::gui
