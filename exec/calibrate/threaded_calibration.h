#pragma once

// Measuring where a device is a thread, which waits for what it asked for: all of them do the same
// at the same time. Internal to exec/calibrate.

#include <exception>
#include <map>
#include <mutex>

#include "exec/calibrate/calibration.h"
#include "exec/calibrate/last_round.h"
#include "exec/calibrate/meeting.h"
#include "exec/calibrate/move_times.h"
#include "exec/calibrate/record.h"
#include "exec/calibrate/shard_bench.h"
#include "exec/calibrate/sweeps.h"

namespace strata {

class ThreadedCalibration : public Measurer {
 public:
  ThreadedCalibration(std::shared_ptr<Backend> backend, const Graph& graph, const MeasureList& list,
                      const CalibrateOptions& options);

  void round(const std::atomic<bool>* cancelled) override;
  std::vector<MeasuredCost> costs(Sampled which) const override;
  std::vector<MeasuredMove> moves() const override { return moves_.rows(source_); }
  RoundTimes last_round() const override { return last_.times(sweeps_.keys_of_list()); }
  Disturbance disturbance() const override;
  std::string method() const override;

 private:
  /// Of a sweep on one device.
  struct Times {
    std::vector<std::pair<const CostKey*, Seconds>> shards;
    std::vector<Wait> waits;
  };
  /// Of one device: loops of known length.
  struct Spins {
    std::vector<double> seconds;            ///< all of them
    std::map<std::size_t, double> longest;  ///< by sweep: of those beside it
  };

  void work_on_all(const std::atomic<bool>* cancelled);
  void work(DeviceId device, const std::atomic<bool>* cancelled);
  bool go_on(const std::atomic<bool>* cancelled);
  void sweep(DeviceId device, std::size_t k, const std::atomic<bool>* cancelled);
  bool make_benches(DeviceId device, const Sweep& sweep, const std::atomic<bool>* cancelled);
  Times take(DeviceId device, const Sweep& sweep, const std::atomic<bool>* cancelled);
  void run(ShardBench& bench, const Shape& shape, bool forward, Times& times,
           const std::atomic<bool>* cancelled);
  void keep(DeviceId device, const Times& times, std::size_t sweep, Seconds spun);

  std::shared_ptr<Backend> backend_;
  const Graph& graph_;
  std::string source_;
  Sweeps sweeps_;
  Optimizer optimizer_;
  std::vector<std::map<std::size_t, std::unique_ptr<ShardBench>>> benches_;  // by device
  std::vector<Spins> spins_;                                                 // by device
  MoveTimes moves_;
  std::size_t round_ = 0;
  Meeting meet_;
  std::mutex mutex_;  // the members below
  Record record_;
  LastRound last_;
  std::exception_ptr error_;
};

}  // namespace strata
