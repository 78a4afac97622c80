#pragma once

// What makes sequences of tokens, (n, c, w), and takes them apart again.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// A learned vector of `features` channels for each of the tokens' numbers, 0 to vocabulary - 1:
/// (n, 1, w) to (n, features, w). A sum over the vocabulary, of which a shard of a cut in r has
/// the vectors of some numbers.
struct Embedding {
  std::int64_t vocabulary = 0;
  std::int64_t features = 0;
  double scale = 1;  ///< what multiplies the vectors
  /// The embedding whose vectors these are; its own where empty.
  std::string weight_of = {};
  bool operator==(const Embedding&) const = default;

  static constexpr OpTraits kTraits{.terms_lead = true, .summary = "embedding"};
  std::string_view name() const { return "embedding"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const;
  BackwardReads backward_reads() const { return {.inputs = true}; }
  Parameters parameters(InputExtents inputs) const;
  std::int64_t terms() const { return vocabulary; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  /// Its update is of the rows, which no extents show.
  std::string cost_attributes() const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("vocabulary", vocabulary, std::nullopt);
    v.count("features", features, std::nullopt);
    v.number("scale", scale, 1.0);
    v.name("weight_of", weight_of);
  }
};

/// Adds a learned vector for each position, of which there are `positions` (0: as many as tokens).
struct PositionEmbedding {
  std::int64_t positions = 0;
  bool operator==(const PositionEmbedding&) const = default;

  static constexpr OpTraits kTraits{};
  std::string_view name() const { return "position_embedding"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  /// A row of all positions for each channel.
  Parameters parameters(InputExtents inputs) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("positions", positions, 0);
  }
};

/// The positions of a plane or a volume, in row-major order, as tokens: (n, c, d, h, w) to
/// (n, c, d h w). A shard that is cut in w reads the whole plane.
struct Tokens {
  bool operator==(const Tokens&) const = default;

  static constexpr OpTraits kTraits{};
  std::string_view name() const { return "tokens"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor&) {}
};

/// Puts a learned token before the others.
struct ClassToken {
  bool operator==(const ClassToken&) const = default;

  static constexpr OpTraits kTraits{};
  std::string_view name() const { return "class_token"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const;
  Parameters parameters(InputExtents inputs) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor&) {}
};

/// One token of each sequence: (n, c, w) to (n, c).
struct SelectToken {
  std::int64_t position = 0;
  bool operator==(const SelectToken&) const = default;

  static constexpr OpTraits kTraits{};
  std::string_view name() const { return "select_token"; }
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("position", position, 0);
  }
};

}  // namespace strata
