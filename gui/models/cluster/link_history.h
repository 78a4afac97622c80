#pragma once

// How many bytes had crossed each link by when: what is asked for any stretch of time, as often as
// a hand scrubs. Needs a timeline with link rates; in a plan by classes a link has those of the one
// that stands for it. Immutable; thread-safe.

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/models/scene.h"
#include "gui/models/selection.h"

namespace strata::gui {

class LinkHistory {
 public:
  LinkHistory() = default;
  LinkHistory(const Plan& plan, const Timeline& timeline, std::size_t links);

  Seconds end() const { return end_; }
  double bytes(LinkId link, const TimeRange& range) const;

  /// The most used link's share of its bandwidth in each of `bins` equal parts of the time.
  std::vector<double> busiest(const Cluster& cluster, std::size_t bins) const;

 private:
  struct Point {
    double at = 0, bytes = 0, rate = 0;  ///< bytes before `at`, and the rate from then on
  };
  double bytes_until(std::size_t link, double at) const;

  Seconds end_;
  std::vector<std::vector<Point>> by_link_;
  std::vector<std::uint32_t> stands_for_;  // by link: which of those has its history
};

/// By link.
struct LinkUse {
  std::vector<double> bytes;  ///< in the range; without one, a step's
  std::vector<double> share;  ///< of what the link could have carried; 0 of links without a limit
};
LinkUse link_use(const Scene& scene, const LinkHistory& history,
                 const std::optional<TimeRange>& range);

}  // namespace strata::gui
