#pragma once

// Measuring where devices work through queues: one thread asks all of them for a layer at a time,
// lets them begin at once, as tasks or as a recording of all of them, and reads the times when the
// sweep is done. So neither the host nor another thread is in any time, and nothing here needs
// locks. Internal to exec/calibrate.

#include <functional>
#include <map>

#include "exec/calibrate/calibration.h"
#include "exec/calibrate/last_round.h"
#include "exec/calibrate/move_times.h"
#include "exec/calibrate/record.h"
#include "exec/calibrate/shard_bench.h"
#include "exec/calibrate/sweeps.h"

namespace strata {

class QueuedCalibration : public Measurer {
 public:
  QueuedCalibration(std::shared_ptr<Backend> backend, const Graph& graph, const MeasureList& list,
                    CalibrateOptions options);
  ~QueuedCalibration() override;

  void round(const std::atomic<bool>* cancelled) override;
  std::vector<MeasuredCost> costs(Sampled which) const override;
  std::vector<MeasuredMove> moves() const override { return moves_.rows(options_.source); }
  RoundTimes last_round() const override { return last_.times(sweeps_.keys_of_list()); }
  Disturbance disturbance() const override;
  std::string method() const override;

 private:
  struct Bench {
    std::vector<std::unique_ptr<ShardBench>> of_device;
    bool lasting = false;  ///< not made anew in each round
  };
  /// One time, on one device.
  struct Time {
    const CostKey* key;
    std::size_t device;
    Seconds seconds;
  };
  using Times = std::vector<Time>;

  void cut_sweeps();
  void spin_up(const std::atomic<bool>* cancelled);
  void measure(const Sweep& sweep, const std::atomic<bool>* cancelled);
  bool make_benches(const Sweep& sweep, const std::atomic<bool>* cancelled);
  bool may_last(const Shape& shape);
  void drop_passing(const Sweep& sweep);
  Times take(const Sweep& sweep, bool held, const std::atomic<bool>* cancelled);
  void ask(std::size_t shape, bool forward, Times& times);
  void begin_step();
  static double total_of(const Times& times, std::size_t device);
  void keep(const Times& times);

  std::shared_ptr<Backend> backend_;
  const Graph& graph_;
  CalibrateOptions options_;
  std::unique_ptr<Stopwatch> watch_;
  Sweeps sweeps_;
  Optimizer optimizer_;
  std::vector<std::int64_t> labels_;
  std::map<std::size_t, Bench> benches_;  // by shape
  Bytes lasting_;                         // of benches, on one device
  MoveTimes moves_;
  bool spun_ = false;
  std::size_t taken_ = 0;  // sweeps that count
  Record record_;
  LastRound last_;
};

}  // namespace strata
