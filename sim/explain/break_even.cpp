#include "sim/explain/break_even.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/cluster/what_if.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/score.h"
#include "sim/search/solve.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kMostLinkKinds = 4;
constexpr double kFarthest = 16;
// Tasks lowered and simulated for one key: a second or two.
constexpr std::size_t kKeyWork = 2'000'000;
constexpr std::string_view kBatch = "batch", kOverlap = "overlap";

// Two digits of a number and an x, as --set takes it.
std::string text_of(double factor) {
  return fmt::format("{:.2g}x", factor);
}

std::optional<Case> changed(const Case& input, const CaseRequest& request, const std::string& key,
                            double factor) try {
  if (key == kBatch) {
    const double batch = static_cast<double>(input.batch()) * factor;
    if (batch != std::floor(batch) || batch < 1) return std::nullopt;
    CaseRequest other = request;
    other.training.batch = static_cast<std::int64_t>(batch);
    return load_case(other);
  }
  Case other = input;
  if (key == kOverlap) {
    other.runtime.overlap =
        input.runtime.overlap == Overlap::none ? Overlap::allowed : Overlap::none;
  } else {
    other.cluster = apply(input.cluster, key, text_of(factor));
  }
  return other;
} catch (const InputError&) {  // no such case
  return std::nullopt;
}

// 0: it cannot be simulated, does not fit the case, or a link is too slow.
Seconds simulated_step(const Case& input, const Strategy& strategy) try {
  if (!quick_to_simulate(input, strategy)) return {};
  return score_simulated(input, resolve(strategy, input), nullptr, false).step;
} catch (const InputError&) {
  return {};
}

struct Compared {
  const Case& input;
  const CaseRequest& request;
  const Contender& own;
  const std::vector<Contender>& others;
  const std::atomic<bool>* cancelled;
};

// Along one key: one strategy against several.
class KeySearch {
 public:
  KeySearch(const Compared& compared, std::string key)
      : of_(compared), key_(std::move(key)), steps_(compared.others.size() + 1) {}

  std::vector<std::optional<BreakEven>> run() {
    std::vector<std::optional<BreakEven>> found(of_.others.size());
    for (std::size_t k = 0; k < of_.others.size(); ++k) {
      if (of_.own.step <= Seconds{} || of_.others[k].step <= Seconds{}) continue;
      found[k] = search(k);
    }
    return found;
  }
  bool all_tried() const { return work_ <= kKeyWork; }

 private:
  // Of strategy k, the explained one being the last.
  Seconds step(std::size_t k, double factor) {
    const auto [place, is_new] = steps_[k].try_emplace(factor);
    if (!is_new) return place->second;
    throw_if_cancelled(of_.cancelled);
    const Contender& which = k == of_.others.size() ? of_.own : of_.others[k];
    work_ += which.work;  // about as much as in the case as it is
    if (!all_tried()) return {};
    const std::optional<Case>& there = at(factor);
    if (there) place->second = simulated_step(*there, which.strategy);
    return place->second;
  }

  const std::optional<Case>& at(double factor) {
    const auto [place, is_new] = cases_.try_emplace(factor);
    if (is_new) place->second = changed(of_.input, of_.request, key_, factor);
    return place->second;
  }

  bool turns(std::size_t k, double factor) {
    const Seconds own = step(of_.others.size(), factor);
    if (own <= Seconds{}) return false;
    const Seconds other = step(k, factor);
    if (other <= Seconds{}) return false;
    const bool was_faster = of_.others[k].step < of_.own.step;
    const Seconds faster = was_faster ? own : other, slower = was_faster ? other : own;
    if (faster.value >= (1 - kVisible) * slower.value) return false;
    return fits(was_faster ? of_.others.size() : k, factor);
  }

  // What does not fit wins nothing. Of the changes the batch alone changes what a device needs.
  bool fits(std::size_t k, double factor) {
    if (key_ != kBatch) return true;
    const auto [place, is_new] = fits_.try_emplace({k, factor});
    if (!is_new) return place->second;
    throw_if_cancelled(of_.cancelled);
    const Contender& which = k == of_.others.size() ? of_.own : of_.others[k];
    work_ += which.work;
    const Case& there = *at(factor);
    place->second = score_simulated(there, resolve(which.strategy, there), nullptr, true).fits;
    return place->second;
  }

  BreakEven result(std::size_t k, double factor) {
    const Case& there = *at(factor);
    std::string value = text_of(factor);
    if (key_ == kBatch) value = fmt::format("{}", there.batch());
    if (key_ == kOverlap) value = there.runtime.overlap == Overlap::none ? "off" : "on";
    return {key_, std::move(value), step(of_.others.size(), factor), step(k, factor)};
  }

  // From the case as it is outwards, both ways at once.
  std::optional<BreakEven> search(std::size_t k) {
    if (key_ == kOverlap) return turns(k, 2) ? std::optional(result(k, 2)) : std::nullopt;
    for (double far = 2; far <= kFarthest; far *= 2) {
      std::optional<double> best;
      for (const double way : {far, 1 / far}) {
        const double factor = rounded(way);
        if (!turns(k, factor)) continue;
        const double here =
            key_ == kBatch ? factor : nearest(k, factor, rounded(way > 1 ? way / 2 : way * 2));
        if (!best || std::abs(std::log(here)) < std::abs(std::log(*best))) best = here;
      }
      if (best) return result(k, *best);
    }
    return std::nullopt;
  }

  double rounded(double factor) const {
    return key_ == kBatch ? factor : parse_factor(text_of(factor));
  }

  // Between `far`, where they have turned, and `near`, where they have not.
  double nearest(std::size_t k, double far, double near) {
    for (;;) {
      const double middle = rounded(std::sqrt(near * far));
      if (middle == near || middle == far) return far;
      (turns(k, middle) ? far : near) = middle;
    }
  }

  const Compared& of_;
  const std::string key_;
  std::map<double, std::optional<Case>> cases_;   // by factor; nothing: there is none
  std::vector<std::map<double, Seconds>> steps_;  // by strategy and factor
  std::map<std::pair<std::size_t, double>, bool> fits_;
  std::size_t work_ = 0;
};

}  // namespace

std::vector<std::string> limiting_link_kinds(const Cluster& cluster) {
  std::vector<std::string> kinds;
  for (const Link& link : cluster.links()) {
    if (link.kind.empty() || link.bandwidth >= kNoLimit || kinds.size() == kMostLinkKinds) continue;
    if (std::find(kinds.begin(), kinds.end(), link.kind) == kinds.end()) kinds.push_back(link.kind);
  }
  return kinds;
}

std::vector<std::string> break_even_keys(const Case& input) {
  std::vector<std::string> keys;
  if (input.cluster.device_count() == 1) return keys;
  for (const std::string& kind : limiting_link_kinds(input.cluster)) {
    keys.push_back(fmt::format("link.{}.bandwidth", kind));
  }
  if (keys.empty()) keys.emplace_back("link.*.bandwidth");
  keys.emplace_back("device.*.speed");
  keys.emplace_back(kBatch);
  keys.emplace_back(kOverlap);
  return keys;
}

BreakEvens break_evens(const Case& input, const CaseRequest& request, const Contender& own,
                       const std::vector<Contender>& others, const std::atomic<bool>* cancelled) {
  const Compared compared{input, request, own, others, cancelled};
  const std::vector<std::string> keys = break_even_keys(input);
  std::vector<std::vector<std::optional<BreakEven>>> by_key(keys.size());
  std::vector<char> all_tried(keys.size());
  parallel_for(keys.size(), core_count(), [&](std::size_t i, unsigned) {
    KeySearch search(compared, keys[i]);
    by_key[i] = search.run();
    all_tried[i] = search.all_tried() ? 1 : 0;
  });
  BreakEvens found{std::vector<std::vector<BreakEven>>(others.size())};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    found.all_tried = found.all_tried && all_tried[i] != 0;
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (by_key[i][k]) found.turns[k].push_back(*by_key[i][k]);
    }
  }
  return found;
}

}  // namespace strata
