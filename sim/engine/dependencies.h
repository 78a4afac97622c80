#pragma once

// Who waits for whom, indexed from the side of the one that ends: for each activity how many
// others it still waits for, and its successors, one after another (compressed rows). Both lie
// together, as the end of one activity asks for the one and soon for the other.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/workload.h"

namespace strata {

class Dependencies {
 public:
  explicit Dependencies(const Workload& workload);

  std::size_t size() const { return nodes_.size() - 1; }
  std::span<const std::uint32_t> successors(std::size_t activity) const {
    const std::uint32_t begin = nodes_[activity].begin;
    return std::span(rows_).subspan(begin, nodes_[activity + 1].begin - begin);
  }
  /// For how many others the activity still waits.
  std::uint32_t waiting(std::size_t activity) const { return nodes_[activity].waiting; }
  /// One of those that the activity waits for has ended; returns how many are left.
  std::uint32_t release(std::size_t activity) { return --nodes_[activity].waiting; }

 private:
  struct Node {
    std::uint32_t waiting;
    std::uint32_t begin;  // of its successors in rows_; they end where the next node's begin
  };
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace strata
