#pragma once

// Batches as bf16 holds them exactly: the numbers of tokens as codes (number_code.h).

#include <cstdint>
#include <map>
#include <vector>

#include "sim/graph/batch.h"
#include "sim/graph/graph.h"

namespace strata::cuda {

class CodedBatches {
 public:
  /// Throws InputError where an embedding's numbers have no codes: there are more of them than
  /// codes, or data that other layers read, too.
  explicit CodedBatches(const Graph& graph);

  /// The batch, with codes in place of numbers. They live as long as this; a batch of the same
  /// number has the same ones.
  Batch coded(Batch batch);

 private:
  std::vector<std::size_t> numbers_;  ///< which of a batch's inputs are numbers
  std::map<std::uint64_t, std::vector<std::vector<float>>> codes_;  ///< by batch, then as numbers_
};

}  // namespace strata::cuda
