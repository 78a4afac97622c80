#pragma once

// Traces in the form of PyTorch's profiler (Kineto), written here by hand: ranges and ops of the
// host, calls that launch, and the kernels that they launch, tied by `correlation`. Times in
// microseconds. Events need no order.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::testing {

class KinetoTrace {
 public:
  /// On the thread that trains, or on autograd's.
  void range(const std::string& category, const std::string& name, double begin, double length,
             int sequence = -1, int thread = kMain) {
    const std::string args =
        sequence < 0 ? ""
                     : fmt::format(R"(,"args":{{"External id":1,"Sequence number":{}}})", sequence);
    events_.push_back(
        fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{}{}}})",
                    category, name, thread, begin, length, args));
  }

  /// What autograd does of a forward op of the thread that it calls `forward`.
  void backward(const std::string& name, double begin, double length, int sequence, int forward) {
    events_.push_back(fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":)"
        R"({{"External id":1,"Sequence number":{},"Fwd thread id":{}}}}})",
        name, static_cast<int>(kAutograd), begin, length, sequence, forward));
  }

  /// A call at `call`, and what it launches.
  void kernel(const std::string& name, double call, double begin, double length, int thread = kMain,
              int device = 0, int stream = 7, const std::string& category = "kernel") {
    const int id = ++correlation_;
    events_.push_back(fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":{},"ts":{},)"
        R"("dur":1,"args":{{"External id":1,"cbid":211,"correlation":{}}}}})",
        thread, call, id));
    events_.push_back(fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":)"
        R"({{"External id":1,"device":{},"stream":{},"correlation":{},"grid":[1,1,1]}}}})",
        category, name, device, stream, begin, length, device, stream, id));
  }

  std::string text() const {
    return fmt::format(R"({{"schemaVersion":1,"deviceProperties":[],"traceEvents":[{}]}})",
                       fmt::join(events_, ",\n"));
  }

  static constexpr int kMain = 1, kAutograd = 2;

 private:
  std::vector<std::string> events_;
  int correlation_ = 0;
};

}  // namespace strata::testing
