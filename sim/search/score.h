#pragma once

// A strategy with both of its times: what strategies are compared by. `memo`: of the case.
// Thread-safe.

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/case/predict.h"
#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Without simulation all but eq1 are 0.
struct Scored {
  Strategy strategy;
  Seconds eq1, step;
  Communication communication;
  Bytes peak_memory;     ///< of the device that needs the most
  bool fits = true;      ///< no device needs more than it has, as far as the peaks are known
  std::size_t work = 0;  ///< what simulating it took: tasks that were lowered and simulated

  bool simulated() const { return step.value > 0; }
  bool has_eq1() const { return eq1.value > 0; }
  bool has_peak() const { return peak_memory > Bytes{}; }
};

/// Without Eq. 1; the peak only where `memory` is asked for, which costs time. A case with
/// micro-batches is cut in the strategy's rounds. Throws Cancelled once it is called off, as all
/// that follows does.
Scored score_simulated(const Case& input, const Strategy& strategy, CaseMemo* memo, bool memory,
                       const std::atomic<bool>* cancelled = nullptr,
                       std::size_t most_tasks = std::numeric_limits<std::size_t>::max());
/// Eq. 1 alone, of the strategy's rounds.
Scored score_eq1(const Case& input, const Strategy& strategy, CaseMemo* memo = nullptr,
                 const std::atomic<bool>* cancelled = nullptr);

/// As a limit, that every peak is within; the peak of what is not simulated, which fits nowhere.
inline constexpr Bytes kAnyMemory{std::numeric_limits<std::int64_t>::max()};

/// Of the strategies of a search, each worked out once. Thread-safe.
class Scores {
 public:
  using Flag = const std::atomic<bool>*;

  /// Both must outlive this. `memory_limit`: on every device's peak; without it, what it has.
  Scores(const Case& input, const SearchSpace& space, std::optional<Bytes> memory_limit)
      : input_(input), space_(space), memory_limit_(memory_limit) {}

  /// Without the strategy itself. Simulated where that is quick and possible: a link may be too
  /// slow for the simulation's clock.
  Scored of(const Choices& choices, bool memory, Flag cancelled = nullptr);
  /// With its peak.
  Scored of(const Strategy& strategy, Flag cancelled = nullptr);
  Seconds eq1(const Strategy& strategy, Flag cancelled = nullptr);
  /// The same of what is quick to simulate, without the routes between all devices.
  Seconds eq1_by_class(const Strategy& strategy, Flag cancelled = nullptr);
  /// Whether the space holds it; that computes layers again as the case says.
  bool in_space(const Strategy& strategy) const;
  /// Whether it is known to fit in memory, and whether it is known not to.
  bool fits(const Scored& scored) const;
  bool too_large(const Scored& scored) const;

  /// Of the choices that were simulated and fit, the fastest, so many at most.
  std::vector<Choices> fastest(std::size_t most) const;
  /// Of all strategies that were simulated and do not fit, the one of the lowest peak.
  std::optional<Scored> nearest() const;

 private:
  // What strategies of equally many data-parallel groups are predicted in.
  struct Rounds {
    explicit Rounds(Case input) : cut(std::move(input)), memo(cut) {}
    const Case cut;
    CaseMemo memo;
  };
  struct Remembered {
    Scored scored;
    bool memory = false;  ///< with its peak
  };

  Scored simulated(const Strategy& strategy, bool memory, Flag cancelled);
  template <class Simulate>
  auto in_turn(Flag cancelled, const Simulate& simulate);
  void remember_nearest(const Scored& scored);
  Rounds& rounds_of(const Strategy& strategy);

  const Case& input_;
  const SearchSpace& space_;
  const std::optional<Bytes> memory_limit_;
  std::map<std::int64_t, std::unique_ptr<Rounds>> rounds_;  // by groups; 0: of no micro-batches
  mutable std::mutex lock_;
  std::timed_mutex turn_;                // of a simulation that takes much memory
  std::map<Choices, Remembered> known_;  // without their strategies, which take megabytes
  std::optional<Scored> nearest_;
};

CaseResult result_of(const Case& input, const Scored& scored);

/// Equal but for their names, and for the network's inputs, which cost nothing to place.
bool cut_alike(const Graph& graph, const Strategy& a, const Strategy& b);

/// Pairs of devices that exchange something, over all edges and rounds: so many make a simulation
/// of seconds.
inline constexpr double kMostPairs = 3e6;
/// Whether simulating it takes seconds at most. Channels cut over hundreds of devices send
/// everything everywhere, layer by layer: minutes, for a strategy that nobody would choose. Also
/// where its micro-batches do not divide the batch: in_rounds() (rounds.h) says so at once.
bool quick_to_simulate(const Case& input, const Strategy& strategy, double most_pairs = kMostPairs);

}  // namespace strata
