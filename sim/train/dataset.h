#pragma once

// The samples that a run trains on, and which of them each step uses: step k takes the samples
// [k B, (k+1) B) modulo their number, so the last batch of an epoch goes on with the first samples.
// Immutable once loaded; thread-safe to read.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/batch.h"
#include "sim/graph/graph.h"

namespace strata {

class Dataset {
 public:
  std::int64_t samples() const { return samples_; }

  /// Views into this. Steps that use the same samples have batches of the same number.
  Batch batch(std::uint64_t step) const;
  /// The samples [first, first + count); count is at most the batch.
  Batch range(std::int64_t first, std::int64_t count) const;

 private:
  friend Dataset load_dataset(const std::string& folder, const Graph& graph);
  friend Dataset synthetic_dataset(const Graph& graph, std::uint64_t seed);
  void repeat_first_samples();

  std::int64_t samples_ = 0, batch_ = 0;
  // Each goes on with the first batch - 1 samples, so that every batch lies in one piece.
  std::vector<std::vector<float>> inputs_;  // by network input, in the graph's order
  std::vector<std::int64_t> sizes_;         // values of a sample, by network input
  std::vector<std::int64_t> labels_;
  std::int64_t labels_of_sample_ = 1;
};

/// input.npy (N, C, [D,] [H,] W; dims of extent 1 before W may be left out), where a network has
/// several inputs NAME.npy of each, and labels.npy of a folder: (N), and where the losses judge
/// each of W positions, (N, W). Throws InputError: for shapes that do not fit the graph, labels
/// outside its classes, values that are no numbers, and what an embedding reads that is no number
/// of its vocabulary.
Dataset load_dataset(const std::string& folder, const Graph& graph);

/// One batch that every step uses: normal values of variance 1, where an embedding reads them whole
/// numbers of its vocabulary; they and the labels drawn uniformly.
Dataset synthetic_dataset(const Graph& graph, std::uint64_t seed);

/// How many classes the network's losses tell apart. Throws InputError where it has no loss.
std::int64_t class_count(const Graph& graph);
/// How many positions of a sample the losses judge, each against a label: 1 without a width. Throws
/// InputError where losses differ in it.
std::int64_t labels_of_sample(const Graph& graph);

}  // namespace strata
