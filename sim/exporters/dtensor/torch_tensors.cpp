#include "sim/exporters/dtensor/torch_tensors.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/regions.h"

namespace strata {
namespace {

using Dims = std::vector<Dim>;

const Dims kFlat = {Dim::n, Dim::c};
const Dims kNumbers = {Dim::n, Dim::w};
const Dims kTokens = {Dim::n, Dim::w, Dim::c};

// The last so many of d, h, w, over which any layer extends.
std::ptrdiff_t spatial_dims(const Graph& graph) {
  std::size_t most = 0;
  for (const Layer& layer : graph.layers()) {
    for (std::size_t k = 0; k < kSpatialDims.size(); ++k) {
      if (layer.output[kSpatialDims[k]] > 1) most = std::max(most, kSpatialDims.size() - k);
    }
  }
  return static_cast<std::ptrdiff_t>(most);
}

bool flattens(const Op& op) {
  return std::holds_alternative<FullyConnected>(op) || std::holds_alternative<Flatten>(op);
}

// Whose channels come before the positions in PyTorch.
bool reads_image(const Op& op) {
  return slides(op) || flattens(op) || std::holds_alternative<BatchNorm>(op) ||
         std::holds_alternative<LocalResponseNorm>(op) || std::holds_alternative<Tokens>(op);
}

bool reads_tokens(const Op& op) {
  return std::holds_alternative<Linear>(op) || std::holds_alternative<Attention>(op) ||
         std::holds_alternative<PositionEmbedding>(op) || std::holds_alternative<ClassToken>(op) ||
         std::holds_alternative<SelectToken>(op);
}

class TorchDims {
 public:
  explicit TorchDims(const Graph& graph) : graph_(graph), image_(kFlat) {
    image_.insert(image_.end(), kSpatialDims.end() - spatial_dims(graph), kSpatialDims.end());
  }

  std::vector<Dims> run() && {
    for (std::size_t i = 0; i < graph_.size(); ++i) dims_.push_back(of(LayerId(i)));
    return std::move(dims_);
  }

 private:
  Dims of(LayerId id) const {
    const Layer& layer = graph_[id];
    if (is_input(layer.op)) return of_input(id);
    if (std::holds_alternative<Router>(layer.op)) {
      throw InputError(fmt::format(
          "network {}: layer {}: a mixture of experts is not written; allowed: dense networks",
          graph_.name(), layer.name));
    }
    if (const auto* attention = std::get_if<Attention>(&layer.op)) {
      if (attention->shared_size > 0 || attention->value_size > 0) {
        throw InputError(fmt::format(
            "network {}: layer {}: a latent attention is not written; allowed: attentions whose "
            "heads of keys and values are alike",
            graph_.name(), layer.name));
      }
      if (layer.parameters.total() > 0) {
        throw InputError(fmt::format(
            "network {}: layer {}: an attention with sinks or buckets is not written; allowed: "
            "attentions without parameters",
            graph_.name(), layer.name));
      }
    }
    if (std::holds_alternative<Embedding>(layer.op)) return kTokens;
    const Dims& read = dims_[layer.inputs.front()()];
    const bool tokens = read == kTokens || read == kNumbers;
    if (tokens ? reads_image(layer.op) : reads_tokens(layer.op) && read != kFlat) {
      throw InputError(fmt::format(
          "network {}: layer {}: {} of {} is not written, for in PyTorch {}; allowed: {}",
          graph_.name(), layer.name, name(layer.op), tokens ? "tokens" : "an image",
          tokens ? "tokens lie before their channels" : "an image's channels lie before its places",
          tokens ? "images" : "tokens, or tokens of an image"));
    }
    for (LayerId other : layer.inputs) {
      if ((dims_[other()] == kTokens) == (read == kTokens)) continue;
      throw InputError(fmt::format("network {}: layer {}: {} of tokens and an image is not written",
                                   graph_.name(), layer.name, name(layer.op)));
    }
    if (std::holds_alternative<Tokens>(layer.op)) return kTokens;
    if (std::holds_alternative<SelectToken>(layer.op) || flattens(layer.op)) return kFlat;
    return slides(layer.op) ? image_ : read;
  }

  // Numbers of tokens, or what its first reader takes it for.
  Dims of_input(LayerId id) const {
    if (graph_.consumers(id).empty()) return image_;
    const Op& reader = graph_[graph_.consumers(id).front()].op;
    if (std::holds_alternative<Embedding>(reader)) return kNumbers;
    return reads_tokens(reader) ? kTokens : image_;
  }

  const Graph& graph_;
  Dims image_;
  std::vector<Dims> dims_;
};

std::optional<std::size_t> place(const Dims& dims, Dim dim) {
  const auto at = std::find(dims.begin(), dims.end(), dim);
  if (at == dims.end()) return std::nullopt;
  return static_cast<std::size_t>(at - dims.begin());
}

/// Where the weight has the output's channels, and where the terms of its sums.
struct WeightDims {
  std::size_t channels = 0;
  std::optional<std::size_t> terms;
};

// (O, I, ...) of products, (C) of norms, (vocabulary, C), (positions, C), and (1, 1, C) of a class
// token.
WeightDims weight_dims(const Op& op) {
  if (std::holds_alternative<Embedding>(op)) return {1, 0};
  if (std::holds_alternative<PositionEmbedding>(op)) return {1, std::nullopt};
  if (std::holds_alternative<ClassToken>(op)) return {2, std::nullopt};
  return {0, 1};
}

// One layer on the mesh.
class OnMesh {
 public:
  OnMesh(const Graph& graph, LayerId id, const DTensorLayout& layout, const std::vector<Dims>& dims)
      : graph_(graph),
        id_(id),
        layer_(graph[id]),
        mesh_(layout.mesh),
        layout_(layout.layers[id()]),
        dims_(dims) {}

  LayerTensors run() const {
    LayerTensors tensors;
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i) tensors.inputs.push_back(input(i));
    if (layer_.parameters.weight > 0) tensors.parameters.push_back({"weight", weight()});
    if (layer_.parameters.bias > 0) tensors.parameters.push_back({"bias", bias()});
    tensors.output = by_mesh_dim([&](std::size_t m) {
      return layout_.cuts[m] ? place(dims_[id_()], *layout_.cuts[m]) : std::nullopt;
    });
    tensors.local = is_local();
    return tensors;
  }

 private:
  template <class Cut>
  TensorCuts by_mesh_dim(const Cut& cut) const {
    TensorCuts cuts;
    cuts.reserve(mesh_.size());
    for (std::size_t m = 0; m < mesh_.size(); ++m) cuts.push_back(cut(m));
    return cuts;
  }

  // The dim of the output that the ranks compute parts of.
  std::optional<Dim> computed(std::size_t m) const {
    return layout_.terms[m] ? std::nullopt : layout_.cuts[m];
  }
  std::int64_t parts(Dim dim) const {
    std::int64_t parts = 1;
    for (std::size_t m = 0; m < mesh_.size(); ++m) parts *= computed(m) == dim ? mesh_[m] : 1;
    return parts;
  }

  TensorCuts input(std::size_t i) const {
    const AccessMap access = access_map(graph_, id_, i);
    const Layer& producer = graph_[layer_.inputs[i]];
    const Dims& dims = dims_[layer_.inputs[i]()];
    return by_mesh_dim([&](std::size_t m) -> std::optional<std::size_t> {
      if (layout_.terms[m]) return access.is_reduced(Dim::c) ? place(dims, Dim::c) : std::nullopt;
      const std::optional<Dim> dim = computed(m);
      if (!dim || !keeps_cut(access, *dim, producer.output)) return std::nullopt;
      return place(dims, *dim);
    });
  }

  // Whether a part of the output needs as many parts of the input's dim, else it gathers them.
  bool keeps_cut(const AccessMap& access, Dim dim, const Extents& input) const {
    if (dim == Dim::c && statistics(layer_, whole(layer_.output)).over[dim] &&
        !is_loss(layer_.op)) {
      return false;
    }
    if (access.row_major && dim != Dim::n) {
      return dim == Dim::c && input[dim] % parts(dim) == 0;
    }
    const DimAccess& read = access.dims[dim];
    if (const auto* blocks = std::get_if<access::Blocks>(&read)) {
      return layer_.output[dim] / blocks->outputs % parts(dim) == 0;
    }
    return std::holds_alternative<access::Same>(read);
  }

  TensorCuts weight() const {
    const WeightDims dims = weight_dims(layer_.op);
    return by_mesh_dim([&](std::size_t m) -> std::optional<std::size_t> {
      if (layout_.terms[m]) return dims.terms;
      if (!layer_.parameters.loops[Dim::c]) return std::nullopt;
      return computed(m) == Dim::c ? std::optional(dims.channels) : std::nullopt;
    });
  }
  TensorCuts bias() const {
    return by_mesh_dim([&](std::size_t m) {
      return computed(m) == Dim::c ? std::optional<std::size_t>(0) : std::nullopt;
    });
  }

  // DTensor has no rule for convolutions whose images need no gradient, nor for attention on CPUs,
  // nor for all that slides; it views planes as tokens, which a gather may have left in another
  // order; and a product flattens n and w, for which it gathers w.
  bool is_local() const {
    if (slides(layer_.op) || std::holds_alternative<LocalResponseNorm>(layer_.op) ||
        std::holds_alternative<Attention>(layer_.op) || std::holds_alternative<Tokens>(layer_.op) ||
        std::holds_alternative<Flatten>(layer_.op)) {
      return true;
    }
    const bool sums =
        std::find(layout_.terms.begin(), layout_.terms.end(), true) != layout_.terms.end();
    return std::holds_alternative<Linear>(layer_.op) && !sums && parts(Dim::w) > 1;
  }

  const Graph& graph_;
  LayerId id_;
  const Layer& layer_;
  const std::vector<std::int64_t>& mesh_;
  const LayerLayout& layout_;
  const std::vector<Dims>& dims_;
};

}  // namespace

bool slides(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Pooling>(op) ||
         std::holds_alternative<AdaptivePooling>(op);
}

std::vector<std::vector<Dim>> torch_dims(const Graph& graph) {
  return TorchDims(graph).run();
}

LayerTensors layer_tensors(const Graph& graph, LayerId layer, const DTensorLayout& layout,
                           const std::vector<std::vector<Dim>>& dims) {
  return OnMesh(graph, layer, layout, dims).run();
}

}  // namespace strata
