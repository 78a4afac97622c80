#include "sim/plan/assembly.h"

#include <variant>

namespace strata {
namespace {

const Windows* windows_of(const Op& op) {
  if (const auto* convolution = std::get_if<Convolution>(&op)) return &convolution->windows;
  if (const auto* pooling = std::get_if<Pooling>(&op)) return &pooling->windows;
  return nullptr;
}

}  // namespace

bool reads_as_it_lies(const Op& op, const Box& need, const Box& owned) {
  if (need == owned) return true;
  const Windows* windows = windows_of(op);
  if (windows == nullptr || need[Dim::n] != owned[Dim::n] || need[Dim::c] != owned[Dim::c]) {
    return false;
  }
  for (Dim dim : kSpatialDims) {
    if (need[dim].begin != owned[dim].begin) return false;
    if (owned[dim].end - need[dim].end >= (*windows)[dim].stride) return false;
  }
  return true;
}

}  // namespace strata
