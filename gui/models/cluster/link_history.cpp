#include "gui/models/cluster/link_history.h"

#include <algorithm>

namespace strata::gui {

LinkHistory::LinkHistory(const Plan& plan, const Timeline& timeline, std::size_t links)
    : end_(timeline.makespan()), by_link_(links) {
  stands_for_.reserve(links);
  for (std::size_t i = 0; i < links; ++i) {
    stands_for_.push_back(static_cast<std::uint32_t>(plan.representative(LinkId(i))()));
  }
  for (const LinkRate& change : timeline.link_rates()) {
    std::vector<Point>& points = by_link_[change.link()];
    double bytes = 0;
    if (!points.empty()) {
      const Point& last = points.back();
      bytes = last.bytes + last.rate * (change.at.value - last.at);
    }
    points.push_back({change.at.value, bytes, change.rate.value});
  }
}

double LinkHistory::bytes_until(std::size_t link, double at) const {
  const std::vector<Point>& points = by_link_[link];
  const auto after = std::upper_bound(points.begin(), points.end(), at,
                                      [](double time, const Point& p) { return time < p.at; });
  if (after == points.begin()) return 0;
  const Point& last = *(after - 1);
  return last.bytes + last.rate * (at - last.at);
}

double LinkHistory::bytes(LinkId link, const TimeRange& range) const {
  if (link() >= by_link_.size()) return 0;
  const std::size_t same = stands_for_[link()];
  return bytes_until(same, range.end.value) - bytes_until(same, range.begin.value);
}

std::vector<double> LinkHistory::busiest(const Cluster& cluster, std::size_t bins) const {
  std::vector<double> most(bins);
  const double width = end_.value / static_cast<double>(bins);
  for (std::size_t i = 0; i < by_link_.size(); ++i) {
    const double bandwidth = cluster[LinkId(i)].bandwidth.value;
    if (by_link_[i].empty() || bandwidth >= kNoLimit.value) continue;
    double before = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double until = bytes_until(i, width * static_cast<double>(bin + 1));
      most[bin] = std::max(most[bin], (until - before) / (bandwidth * width));
      before = until;
    }
  }
  return most;
}

LinkUse link_use(const Scene& scene, const LinkHistory& history,
                 const std::optional<TimeRange>& range) {
  const std::size_t count = scene.input.cluster.links().size();
  LinkUse use;
  if (!range || range->length().value <= 0) {
    use.bytes = scene.use.link_bytes;
    use.share = scene.use.links;
  }
  for (std::size_t i = use.bytes.size(); i < count; ++i) {
    const double bytes = history.bytes(LinkId(i), *range);
    use.bytes.push_back(bytes);
    use.share.push_back(bytes /
                        (scene.input.cluster[LinkId(i)].bandwidth.value * range->length().value));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (scene.input.cluster[LinkId(i)].bandwidth >= kNoLimit) use.share[i] = 0;
  }
  return use;
}

}  // namespace strata::gui
