#include "sim/plan/assembly.h"

#include <variant>

namespace strata {
namespace {

// By how much the next output's window begins later.
std::int64_t stride_of(const DimAccess& read) {
  const auto* slid = std::get_if<access::Windowed>(&read);
  return slid == nullptr ? 1 : slid->window.stride;
}

}  // namespace

bool reads_as_it_lies(const AccessMap& access, const Box& need, const Box& owned) {
  if (need == owned) return true;
  if (need[Dim::n] != owned[Dim::n] || need[Dim::c] != owned[Dim::c]) return false;
  for (Dim dim : kSpatialDims) {
    if (need[dim].begin != owned[dim].begin) return false;
    if (owned[dim].end - need[dim].end >= stride_of(access.dims[dim])) return false;
  }
  return true;
}

}  // namespace strata
