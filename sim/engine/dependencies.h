#pragma once

// Who waits for whom, indexed from the side of the one that ends: for each activity how many
// others it still waits for, and its successors, one after another (compressed rows). Both lie
// together: the end of an activity asks for the one, and its own end soon for the other. Where a
// workload repeats, all periods share their rows.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/workload.h"

namespace strata {

/// Activities of the period that begins at `begin`, or of the next one.
class Successors {
 public:
  class Iterator {
   public:
    Iterator(const std::uint32_t* at, std::uint32_t begin) : at_(at), begin_(begin) {}
    std::uint32_t operator*() const { return begin_ + *at_; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const std::uint32_t* at_;
    std::uint32_t begin_;
  };

  Successors(const std::uint32_t* row, std::uint32_t count, std::uint32_t begin)
      : row_(row), count_(count), begin_(begin) {}
  Iterator begin() const { return {row_, begin_}; }
  Iterator end() const { return {row_ + count_, begin_}; }

 private:
  const std::uint32_t* row_;  // counted from where the period begins
  std::uint32_t count_, begin_;
};

class Dependencies {
 public:
  explicit Dependencies(const Workload& workload);

  std::size_t size() const { return nodes_.size(); }
  Successors successors(std::size_t activity) const {
    const Node& node = nodes_[activity];
    return {node.count <= 1 ? &node.row : rows_.data() + node.row, node.count,
            begin_of_period(activity)};
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
  std::uint32_t begin_of_period(std::size_t activity) const {
    return activity < period_ ? 0 : static_cast<std::uint32_t>(activity - activity % period_);
  }
  void fill_rows(const Workload& workload);
  void add_copies(const Workload& workload, std::span<const std::uint32_t> inside);

  std::size_t period_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> rows_;  // counted from where the period begins
};

}  // namespace strata
