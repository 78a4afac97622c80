#pragma once

// Whether a workload that repeats (Workload::repeat) does in its second period what it did in the
// first, and so in every later one, while it is simulated. engine.h says when.

#include <cstdint>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/event_queue.h"

namespace strata {

class Repetition {
 public:
  /// Of options.period activities each; 0: nothing repeats, and nobody asks.
  explicit Repetition(const SimulateOptions& options);

  /// The activity begins or ends now; `times` has its time already.
  void begin(std::uint32_t activity, const ActivityTimes& times);
  void end(std::uint32_t activity, const ActivityTimes& times);

  /// Whether the first period has ended before anything of the second has begun.
  bool ended_alone() const { return period_ > 0 && left_ == 0 && first_begin_ == kNever; }
  /// Once all that happens now has happened: whether what is under way, and what is done, is what
  /// it was one period before.
  bool holds(Tick now) const;
  /// Whether something of the second period began or ended otherwise.
  bool differed() const { return differed_ >= 0; }
  /// When the first period ended; the second then takes as long.
  Tick end_of_first() const { return end_; }

 private:
  bool counts_as_alike(std::uint32_t activity, const ActivityTimes& times) const;
  void differ(Tick now, Tick before);

  const std::size_t period_;
  const bool settles_;
  std::size_t left_;                 // of the first period: those that have not ended
  Tick end_ = kNever;                // of the first period
  std::vector<Tick> begun_, ended_;  // in the first period, in order of time
  bool began_third_ = false;
  // Of the second period.
  std::size_t begins_ = 0, ends_ = 0;
  Tick first_begin_ = kNever;
  Tick latest_begun_ = 0, latest_ended_ = 0;  // when what has begun or ended did so in the first
  Tick differed_ = -1;                        // when something last began or ended otherwise
  Tick differed_in_first_ = -1;  // when the last of what differed did so in the first period
  std::size_t alike_ = 0;        // under way, begun since as in the first period
};

}  // namespace strata
