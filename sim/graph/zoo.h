#pragma once

// The networks that come with Strata, built layer by layer as their papers (and torchvision, in
// the details) define them, each ending in softmax with cross-entropy. Transformers are members of
// families, by name or by their sizes: "gpt2", "gpt2:seq=256",
// "llama:layers=4,hidden=256,heads=8,ffn=688,seq=128,vocab=1000". See docs/models.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/graph/graph.h"

namespace strata {

struct ZooEntry {
  std::string_view name;
  std::string_view description;  ///< one line, with the source
};
std::span<const ZooEntry> zoo();
/// Those that are of no family: convolutional networks.
std::span<const ZooEntry> convolutional_zoo();

/// Whether it is a name of the zoo's or a family's, whatever sizes follow.
bool in_zoo(std::string_view name);

/// The member of a family that `model` names, with so many tokens: "gpt2", 256 to "gpt2:seq=256".
/// Throws InputError for a model of no family, or one without tokens.
std::string with_tokens(std::string_view model, std::int64_t tokens);

/// Throws InputError for a name that the zoo lacks, or sizes that make no network; the message
/// lists what is allowed.
Graph build_zoo(std::string_view name, std::int64_t batch);

}  // namespace strata
