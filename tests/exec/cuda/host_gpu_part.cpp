// GpuParts of the host that stands for GPUs: groups as a driver would make them, which hold
// nothing but are counted.

#include "exec/cuda/device/device.h"
#include "exec/cuda/device/gpu_part.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/cuda/host_queues.h"

namespace strata::cuda {
namespace {

// As GPUs of compute capability 9.0 have them.
constexpr int kMultiprocessors = 132, kLeast = 8, kStep = 8;

struct GreenContexts {
  bool there = true;
  int alive = 0;
};

GreenContexts& green_contexts() {
  static GreenContexts contexts;
  return contexts;
}

std::shared_ptr<void> make_green_context() {
  ++green_contexts().alive;
  return {new int(0), [](void* context) {
            delete static_cast<int*>(context);
            --green_contexts().alive;
          }};
}

}  // namespace

namespace host {

void set_green_contexts(bool there) {
  green_contexts().there = there;
}
int green_contexts_alive() {
  return green_contexts().alive;
}

}  // namespace host

GpuPart whole_of(int gpu) {
  return {gpu, kMultiprocessors, kMultiprocessors, GpuPartKind::whole, {}};
}

Split split_green(int gpu, int count) {
  if (!green_contexts().there) return {{}, "this driver has none"};
  const int size = largest_group(kMultiprocessors, count, kLeast, kStep);
  if (size == 0) return {{}, "too few"};
  Split split;
  for (int part = 0; part < count; ++part) {
    split.parts.push_back({gpu, size, kMultiprocessors, GpuPartKind::green, make_green_context()});
  }
  return split;
}

Stream::Stream(const GpuPart& part) : Stream(part.gpu) {
  green_ = part.green;
  host::Queue& queue = host::queue_of(*this);
  queue.green = green_ != nullptr;
  host::the_host().check(queue, host::Refused::stream, "making a stream");
}

}  // namespace strata::cuda
