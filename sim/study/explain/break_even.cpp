#include "sim/study/explain/break_even.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/cluster/what_if.h"
#include "sim/study/search/score.h"
#include "sim/study/search/solve.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kMostLinkKinds = 4;
constexpr double kFarthest = 16;
constexpr std::string_view kBatch = "batch", kOverlap = "overlap";

// Links that limit something, by kind.
std::vector<std::string> link_kinds(const Cluster& cluster) {
  std::vector<std::string> kinds;
  for (const Link& link : cluster.links()) {
    if (link.kind.empty() || link.bandwidth >= kNoLimit || kinds.size() == kMostLinkKinds) continue;
    if (std::find(kinds.begin(), kinds.end(), link.kind) == kinds.end()) kinds.push_back(link.kind);
  }
  return kinds;
}

// Two digits of a number and an x, as --set takes it.
std::string text_of(double factor) {
  return fmt::format("{:.2g}x", factor);
}

std::optional<Case> changed(const Case& input, const CaseRequest& request, const std::string& key,
                            double factor) try {
  if (key == kBatch) {
    const double batch = static_cast<double>(input.graph.batch()) * factor;
    if (batch != std::floor(batch) || batch < 1) return std::nullopt;
    CaseRequest other = request;
    other.batch = static_cast<std::int64_t>(batch);
    return load_case(other);
  }
  Case other = input;
  if (key == kOverlap) {
    other.overlap = input.overlap == Overlap::none ? Overlap::allowed : Overlap::none;
  } else {
    other.cluster = apply(input.cluster, key, text_of(factor));
  }
  return other;
} catch (const InputError&) {  // no such case
  return std::nullopt;
}

// Along one key: one strategy against several.
class KeySearch {
 public:
  KeySearch(const Case& input, const CaseRequest& request, std::string key,
            const Strategy& strategy, const std::vector<Strategy>& others,
            const std::atomic<bool>* cancelled)
      : input_(input),
        request_(request),
        key_(std::move(key)),
        strategy_(strategy),
        others_(others),
        cancelled_(cancelled) {}

  std::vector<std::optional<BreakEven>> run() {
    std::vector<std::optional<BreakEven>> found(others_.size());
    for (std::size_t k = 0; k < others_.size(); ++k) {
      const std::optional<bool> faster = wins(k, 1);
      if (faster) found[k] = search(k, *faster);
    }
    return found;
  }

 private:
  // The case with this factor, simulated under one strategy after another.
  struct Changed {
    explicit Changed(Case other) : input(std::move(other)), memo(input) {}
    Case input;
    CaseMemo memo;
    Seconds own;                                 // zero: cannot be simulated
    std::vector<std::optional<Seconds>> others;  // nothing: not asked yet
  };

  Seconds simulated(Changed& at, const Strategy& strategy) const try {
    throw_if_cancelled(cancelled_);
    if (!quick_to_simulate(at.input.graph, strategy)) return {};
    return score_simulated(at.input, resolve(strategy, at.input), &at.memo, false).step;
  } catch (const InputError&) {  // it does not fit the case, or a link is too slow
    return {};
  }

  Changed* at(double factor) {
    const auto [place, is_new] = cases_.try_emplace(factor);
    if (!is_new) return place->second.get();
    std::optional<Case> other =
        factor == 1 ? std::optional(input_) : changed(input_, request_, key_, factor);
    if (!other) return nullptr;
    place->second = std::make_unique<Changed>(std::move(*other));
    place->second->own = simulated(*place->second, strategy_);
    place->second->others.resize(others_.size());
    return place->second.get();
  }

  // Whether the other strategy is the faster one with this factor; nothing where one of the two
  // has no step.
  std::optional<bool> wins(std::size_t k, double factor) {
    Changed* const there = at(factor);
    if (there == nullptr || there->own <= Seconds{}) return std::nullopt;
    std::optional<Seconds>& step = there->others[k];
    if (!step) step = simulated(*there, others_[k]);
    if (*step <= Seconds{}) return std::nullopt;
    return step->value < (1 - kEqualSteps) * there->own.value;
  }

  bool turns(std::size_t k, double factor, bool before) {
    const std::optional<bool> now = wins(k, factor);
    return now && *now != before;
  }

  BreakEven result(std::size_t k, double factor) {
    const Changed& there = *at(factor);
    std::string value = text_of(factor);
    if (key_ == kBatch) value = fmt::format("{}", there.input.graph.batch());
    if (key_ == kOverlap) value = there.input.overlap == Overlap::none ? "off" : "on";
    return {key_, std::move(value), there.own, *there.others[k]};
  }

  // From the case as it is outwards, both ways at once.
  std::optional<BreakEven> search(std::size_t k, bool before) {
    if (key_ == kOverlap) {
      return turns(k, 2, before) ? std::optional(result(k, 2)) : std::nullopt;
    }
    for (double far = 2; far <= kFarthest; far *= 2) {
      for (const double factor : {rounded(far), rounded(1 / far)}) {
        if (!turns(k, factor, before)) continue;
        return result(k, key_ == kBatch ? factor : nearest(k, factor, before));
      }
    }
    return std::nullopt;
  }

  double rounded(double factor) const {
    return key_ == kBatch ? factor : parse_factor(text_of(factor));
  }

  // The factor of two digits nearest to 1 between `far`, where they have turned, and half as far.
  double nearest(std::size_t k, double far, bool before) {
    double near = rounded(far > 1 ? far / 2 : far * 2);
    for (;;) {
      const double middle = rounded(std::sqrt(near * far));
      if (middle == near || middle == far) return far;
      (turns(k, middle, before) ? far : near) = middle;
    }
  }

  const Case& input_;
  const CaseRequest& request_;
  const std::string key_;
  const Strategy& strategy_;
  const std::vector<Strategy>& others_;
  const std::atomic<bool>* cancelled_;
  std::map<double, std::unique_ptr<Changed>> cases_;  // by factor; null: there is none
};

}  // namespace

std::vector<std::string> break_even_keys(const Case& input) {
  std::vector<std::string> keys;
  if (input.cluster.device_count() == 1) return keys;
  for (const std::string& kind : link_kinds(input.cluster)) {
    keys.push_back(fmt::format("link.{}.bandwidth", kind));
  }
  if (keys.empty()) keys.emplace_back("link.*.bandwidth");
  keys.emplace_back("device.*.speed");
  keys.emplace_back(kBatch);
  keys.emplace_back(kOverlap);
  return keys;
}

std::vector<std::vector<BreakEven>> break_evens(const Case& input, const CaseRequest& request,
                                                const Strategy& strategy,
                                                const std::vector<Strategy>& others,
                                                const std::atomic<bool>* cancelled) {
  const std::vector<std::string> keys = break_even_keys(input);
  std::vector<std::vector<std::optional<BreakEven>>> by_key(keys.size());
  parallel_for(keys.size(), core_count(), [&](std::size_t i, unsigned) {
    by_key[i] = KeySearch(input, request, keys[i], strategy, others, cancelled).run();
  });
  std::vector<std::vector<BreakEven>> found(others.size());
  for (const auto& of_key : by_key) {
    for (std::size_t k = 0; k < of_key.size(); ++k) {
      if (of_key[k]) found[k].push_back(*of_key[k]);
    }
  }
  return found;
}

}  // namespace strata
