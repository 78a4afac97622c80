#pragma once

// Which parameters a step trains: all, all but those of some layers, or none of the network's own
// but those of low-rank adapters beside its products (LoRA, Hu et al. 2021). An adapter of y = W x
// is y + (alpha / r) B A x, with A of r x in and B of out x r: layers NAME_lora_a and NAME_lora_b
// beside layer NAME, NAME_lora_scale where alpha is not r, and the sum NAME_lora, which stands for
// NAME to all that read it. Values; thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

struct Lora {
  std::int64_t rank = 16;
  double alpha = 32;
  /// Of products: q, k, v, o, gate, up and down, whatever the network calls these, or how names of
  /// layers end.
  std::vector<std::string> targets;
  WeightFormat format = WeightFormat::plain;  ///< of the linear layers of the network itself
  std::vector<std::string> also;  ///< layers that are trained whole; what names begin with
  bool operator==(const Lora&) const = default;
};

struct Finetuning {
  std::optional<Lora> lora;
  /// Layers, by their names or what these begin with (block3 of block3_query), that are not
  /// trained.
  std::vector<std::string> frozen;

  bool trains_all() const { return !lora && frozen.empty(); }
  bool operator==(const Finetuning&) const = default;
};

inline constexpr std::string_view kFinetuningForms =
    "full, "
    "lora:r=R[,alpha=A][,targets=attention|all|NAME+NAME][,dtype=nf4|int8][,also=LAYER+LAYER], "
    "frozen:LAYER[+LAYER]";

/// Of a text as kFinetuningForms says; empty: full. Throws InputError.
Finetuning parse_finetuning(std::string_view text);

/// The same network, trained so. Throws InputError where a name stands for no layer.
Graph finetuned(const Graph& graph, const Finetuning& how);

/// What a layer does for the product that it adapts.
enum class AdapterPart : std::uint8_t {
  none,
  down,  ///< A: reads what the product reads
  up,    ///< B, and what scales it
  sum
};
AdapterPart adapter_part(const Graph& graph, LayerId layer);

}  // namespace strata
