#include "sim/solver/min_plus.h"

#include <algorithm>
#include <limits>

namespace strata {

extern const MinPlusKernel min_plus_portable;
#ifdef __x86_64__
extern const MinPlusKernel min_plus_avx2, min_plus_avx512;
#endif

std::vector<const MinPlusKernel*> min_plus_kernels() {
  std::vector<const MinPlusKernel*> kernels{&min_plus_portable};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) kernels.push_back(&min_plus_avx2);
  if (__builtin_cpu_supports("avx512f")) kernels.push_back(&min_plus_avx512);
#endif
  return kernels;
}

const MinPlusKernel& min_plus_kernel() {
  static const MinPlusKernel& fastest = *min_plus_kernels().back();
  return fastest;
}

Panels::Panels(const MinPlusKernel& kernel, std::size_t inner, std::size_t columns)
    : inner_(inner),
      columns_(columns),
      width_(kernel.panel_width),
      padded_((columns + kernel.lanes - 1) / kernel.lanes * kernel.lanes) {}

std::size_t Panels::columns(std::size_t panel) const {
  return std::min(width_, columns_ - first_column(panel));
}

std::size_t Panels::width(std::size_t panel) const {
  return std::min(width_, padded_ - first_column(panel));
}

void min_plus(const double* left, const double* right, std::size_t rows, std::size_t inner,
              std::size_t columns, double* out, const MinPlusKernel& kernel) {
  const Panels panels(kernel, inner, columns);
  std::vector<double> packed(panels.size(), std::numeric_limits<double>::infinity());
  for (std::size_t p = 0; p < panels.count(); ++p) {
    for (std::size_t v = 0; v < inner; ++v) {
      std::copy_n(right + v * columns + panels.first_column(p), panels.columns(p),
                  packed.data() + panels.offset(p) + v * panels.width(p));
    }
  }
  std::vector<const double*> starts(rows);
  for (std::size_t r = 0; r < rows; ++r) starts[r] = left + r * inner;
  kernel.multiply(starts.data(), rows, packed.data(), inner, columns, out);
}

}  // namespace strata
