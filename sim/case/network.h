#pragma once

// A network by the name that a user gives it, with what its file has beside the layers.
// Thread-safe.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/case/predict.h"
#include "sim/case/weights.h"
#include "sim/graph/graph.h"

namespace strata {

struct Network {
  Graph graph;
  NetworkWeights weights;          ///< of an .onnx file where asked for; empty for other layers
  std::vector<std::string> notes;  ///< what was left out or added, a sentence each, for people
};

enum class FileWeights : std::uint8_t { skip, read };

/// A zoo name, or a file where it ends in .toml or .onnx, which alone has open dims. Throws
/// InputError; of a batch that is too large for one graph (limits.h) it says how large one may be.
Network load_network(const std::string& model, std::int64_t batch,
                     FileWeights weights = FileWeights::skip,
                     Unsupported unsupported = Unsupported::refuse, const OpenDims& dims = {});

/// The model with as many tokens as the request says: "gpt2:seq=256". Throws InputError for one
/// that has no tokens.
std::string network_name(const CaseRequest& request);

/// The network that the request names, with what it trains.
Network load_network(const CaseRequest& request, std::int64_t batch,
                     FileWeights weights = FileWeights::skip);

/// The same network where a step trains some parameters alone, or adapters beside it
/// (parse_finetuning()). Throws InputError.
Network trained_as(Network network, const std::string& train);

/// Throws InputError for a network with an opaque op, which can be predicted but not run.
void check_runs(const Graph& graph);

/// What a training starts from: the network's own weights, and initial ones (weights.h) where it
/// has none.
NetworkWeights starting_weights(const Network& network, std::uint64_t seed);

/// Whether a MODEL is a file.
bool is_model_file(const std::string& model);

}  // namespace strata
