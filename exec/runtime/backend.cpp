#include "exec/runtime/backend.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

namespace strata {
namespace {

const std::vector<float>& random_values() {
  static const std::vector<float> values = [] {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 0.1F);
    std::vector<float> v(1U << 12U);  // which stays in the first cache
    for (float& x : v) x = normal(random);
    return v;
  }();
  return values;
}

}  // namespace

Seconds Backend::time(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

void Backend::fill(const Region& to) {
  fill_values(static_cast<float*>(to.data),
              bytes(to.box) / static_cast<std::int64_t>(sizeof(float)));
}

// Front to back, as a kernel before would have.
void Backend::fill_values(float* to, std::int64_t count) {
  const std::vector<float>& source = random_values();
  const auto chunk = static_cast<std::int64_t>(source.size());
  for (; count > 0; count -= chunk, to += chunk) {
    copy_values(to, source.data(), std::min(count, chunk));
  }
}

std::int64_t Backend::saved_bytes(const Layer& layer, const Box& output) const {
  const Saved kept = saved(layer.op, {output, {}, DType::bf16});
  return 4 * (kept.each_element ? places(output) : kept.values);
}

}  // namespace strata
