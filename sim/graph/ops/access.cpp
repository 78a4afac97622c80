#include "sim/graph/ops/access.h"

#include <variant>

#include "sim/base/ceil_div.h"

namespace strata {
namespace {

struct Needed {
  Interval out;
  std::int64_t extent;
  Interval terms;

  Interval within(Interval interval) const { return intersect(interval, Interval{0, extent}); }

  Interval operator()(const access::Same&) const { return out; }
  Interval operator()(const access::Whole&) const { return {0, extent}; }
  Interval operator()(const access::Reduced&) const { return within(terms); }
  Interval operator()(const access::Windowed& a) const { return tapped(a.window, out, extent); }
  Interval operator()(const access::Bins& a) const {
    return {out.begin * extent / a.outputs, ceil_div(out.end * extent, a.outputs)};
  }
  Interval operator()(const access::Blocks& a) const {
    return {out.begin / a.outputs * a.inputs, ((out.end - 1) / a.outputs + 1) * a.inputs};
  }
  Interval operator()(const access::Neighbours& a) const {
    return within({out.begin - a.before, out.end + a.after});
  }
  Interval operator()(const access::Slice& a) const {
    return within({out.begin - a.begin, out.end - a.begin});
  }
};

}  // namespace

Interval needed(const DimAccess& access, Interval output, std::int64_t extent, Interval terms) {
  return std::visit(Needed{output, extent, terms}, access);
}

bool AccessMap::is_whole(Dim dim) const {
  return std::holds_alternative<access::Whole>(dims[dim]);
}

bool AccessMap::is_reduced(Dim dim) const {
  return std::holds_alternative<access::Reduced>(dims[dim]);
}

bool AccessMap::reads_neighbours(Dim dim) const {
  const DimAccess& read = dims[dim];
  return std::holds_alternative<access::Windowed>(read) ||
         std::holds_alternative<access::Bins>(read) ||
         std::holds_alternative<access::Neighbours>(read);
}

}  // namespace strata
