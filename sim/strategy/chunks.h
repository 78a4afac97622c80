#pragma once

// A network cut into chunks of layers that follow one another, for the stages of a pipeline. Pure;
// thread-safe.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// By layer its chunk, of stages * chunks_per_stage. Where blocks of layers (repeated_blocks) make
/// up most of the network, none is cut, and each chunk has equally many of them; the first has all
/// layers before them, too, and the last all layers after them. Where the blocks do not divide but
/// would with two more, what stands before and after them counts as one each (as in the training of
/// Llama 3 405B: 126 blocks on 16 stages). Where they do not divide, but others stand before them
/// (dense ones before those of experts), chunks have whole blocks of both, not equally many. Of
/// those, and of layers of other networks, the multiply-adds of the largest chunk
/// are the least that is possible, and of such cuts it is the one across which the least elements
/// go. Each chunk has a layer that is no input; an input has the chunk of the layer before it.
/// Throws InputError that begins with "its", of the network, where the blocks do not divide (then
/// with the numbers of chunks that would do) or layers are too few.
std::vector<std::uint32_t> divide_into_chunks(const Graph& graph, std::size_t stages,
                                              std::size_t chunks_per_stage);

}  // namespace strata
