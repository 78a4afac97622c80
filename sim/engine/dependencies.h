#pragma once

// Who waits for whom, indexed from the side of the one that ends: for each activity how many
// others it still waits for, and its successors, one after another (compressed rows). Both lie
// together: the end of an activity asks for the one, and its own end soon for the other.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/workload.h"

namespace strata {

class Dependencies {
 public:
  explicit Dependencies(const Workload& workload);

  std::size_t size() const { return nodes_.size(); }
  std::span<const std::uint32_t> successors(std::size_t activity) const {
    const Node& node = nodes_[activity];
    return {node.count == 1 ? &node.row : rows_.data() + node.row, node.count};
  }
  /// For how many others the activity still waits.
  std::uint32_t waiting(std::size_t activity) const { return nodes_[activity].waiting; }
  /// One of those that the activity waits for has ended; returns how many are left.
  std::uint32_t release(std::size_t activity) { return --nodes_[activity].waiting; }

  void prefetch(std::size_t activity) const { __builtin_prefetch(&nodes_[activity], 1); }

 private:
  struct Node {
    std::uint32_t waiting = 0;
    std::uint32_t count = 0;  // of its successors
    std::uint32_t row = 0;    // where they are in rows_; an only one is here itself
  };
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace strata
