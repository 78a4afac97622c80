#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// What is known by its name and its shapes alone. It can be predicted, as the bytes that it moves
/// and the matrix product that its shapes tell of, but not run; and cut in n alone, for any output
/// may need all of its sample.
struct Opaque {
  std::string kind;           ///< what it is elsewhere: "Resize"
  Extents extents;            ///< of its output, of one sample: n is 1
  std::int64_t elements = 0;  ///< of its parameters, which training updates
  std::int64_t macs = 0;      ///< multiply-accumulates for each element of its output
  std::int64_t columns = 1;   ///< of the matrix that they make
  bool uncosted = false;      ///< it computes more than that, and nobody knows how much
  bool operator==(const Opaque&) const = default;

  static constexpr OpTraits kTraits{};
  std::string_view name() const { return "opaque"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kWholeSample; }
  BackwardReads backward_reads() const { return {.inputs = true}; }
  Parameters parameters(InputExtents) const { return {elements, 0}; }
  std::int64_t macs_per_output(InputExtents) const { return macs; }
  /// Each tensor passes once, whatever is done with it. A product is computed again for the
  /// gradient of each of its two factors, one of which is the parameters where there are any.
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  std::string cost_attributes() const { return " kind=" + kind; }
  std::string_view why_whole(Dim dim) const {
    return dim == Dim::n ? "" : "for an opaque op is cut in n alone";
  }
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.text("kind", kind);
    v.shape("shape", extents);
    v.count("parameters", elements, 0);
    v.count("macs", macs, 0);
    v.count("columns", columns, 1);
    v.flag("uncosted", uncosted, false);
  }
};

}  // namespace strata
