#pragma once

// Data, tensor, context and pipeline parallelism together, by their sizes:
// "hybrid:tp=4,sp=1,cp=2,pp=2". Nothing here knows of a transformer: products whose input lies cut
// in channels are cut in their terms (r), others in their channels, what reads those follows, and
// all else is copied, or with sp=1 cut in tokens. With cp_by=heads alone attentions are told from
// other layers. What lies between a dispatch and a combination is cut in experts, and of each
// expert as other products are. Pure; thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include "sim/strategy/strategy.h"

namespace strata {

struct HybridSizes {
  int tensor = 1;   ///< tp: devices that share a product's channels; neighbours in the cluster
  int context = 1;  ///< cp: parts of the tokens
  bool by_heads = false;  ///< cp_by=heads: of an attention's heads instead (DeepSpeed's Ulysses)
  bool shares_tokens = false;  ///< sp: between products, these devices share the tokens
  int stages = 1;              ///< pp: parts of the devices, each of which has some of the layers
  int chunks = 1;              ///< vp: of a stage's layers, which follow one another; with pp alone
  bool folded = false;         ///< vp=v: two chunks, of which the second ones go back to stage 0
  int experts = 1;  ///< ep: parts of a mixture's experts; on the devices that share a layer
  /// etp: devices that share an expert's channels, neighbours; as tensor where it is 0.
  int expert_tensor = 0;

  int devices_of_expert() const { return expert_tensor > 0 ? expert_tensor : tensor; }
};

/// What messages say is allowed.
inline constexpr std::string_view kHybridForm =
    "hybrid:tp=T[,sp=1][,cp=C[,cp_by=heads]][,ep=E[,etp=T]][,pp=P[,vp=V|v]]";

/// Whether the text is meant for one: it begins with "hybrid:".
bool is_hybrid(std::string_view text);

/// Throws InputError that says what is wrong with the text.
HybridSizes parse_hybrid(std::string_view text);

/// On all `devices`, of which samples share what sizes leave; of a mixture's experts samples, and
/// where there are more devices their tokens, share what ep and etp leave. Stage s has the devices
/// from s * devices / pp on, and chunk k of the layers (divide_into_chunks) lies on stage k mod pp
/// or, folded, those from pp on on stage 2 pp - 1 - k; inputs lie on the first device. Throws
/// InputError where they do not divide, or some layer is too small.
Strategy hybrid_parallel(const Graph& graph, int devices, std::string_view text);

/// Names of strategies between commas, of which those of a hybrid's sizes are part of its name.
std::vector<std::string> split_strategies(std::string_view text);

}  // namespace strata
