#pragma once

// Times of work that an asynchronous backend puts in queues, read when all of it is done: nothing
// waits for a device in between. Belongs to one thread.

#include <functional>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"

namespace strata {

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;

  /// What is asked of any device from now on begins when let_go() is called, so that no device
  /// waits for the host between two pieces of it, and all begin at once. Nobody may wait for a
  /// device meanwhile; for who does after all, devices go on by themselves after a while, or, where
  /// all of it is recorded, read() throws.
  virtual void hold() = 0;
  virtual void let_go() = 0;

  /// The device's time for what `work` asks of it, which is no other device's.
  virtual void time(DeviceId device, const std::function<void()>& work) = 0;
  /// Waits for all devices. In the order of time(), since read() was called last.
  virtual std::vector<Seconds> read() = 0;
  /// Of what was read last: whether no device went on by itself before it was let go.
  virtual bool held() const = 0;
};

/// Holds while it lives.
class Held {
 public:
  explicit Held(Stopwatch& watch) : watch_(watch) { watch_.hold(); }
  ~Held() { watch_.let_go(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Stopwatch& watch_;
};

}  // namespace strata
