#include "sim/cost/merged_products.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/graph/regions.h"

namespace strata {
namespace {

class MergingModel final : public CostModel {
 public:
  explicit MergingModel(std::shared_ptr<const CostModel> of) : of_(std::move(of)) {}

  Cost compute(const ShardWork& work, Phase phase) const override {
    return of_->compute(work, phase);
  }
  Cost move(MoveKind kind, Bytes bytes) const override { return of_->move(kind, bytes); }
  Bytes memory_capacity() const override { return of_->memory_capacity(); }
  bool computes_in(DType dtype) const override { return of_->computes_in(dtype); }
  std::optional<FlopsPerSecond> peak(DType dtype) const override { return of_->peak(dtype); }
  KernelTraits kernels() const override { return of_->kernels(); }
  std::unique_ptr<CostModel> with(const KernelTraits& kernels) const override {
    return std::make_unique<MergingModel>(of_->with(kernels));
  }
  bool merges_products() const override { return true; }
  std::int64_t measured_devices() const override { return of_->measured_devices(); }

  const std::shared_ptr<const CostModel>& apart() const { return of_; }

 private:
  std::shared_ptr<const CostModel> of_;
};

// Null for a layer that is not one of several products.
const Linear* product_of(const Layer& layer) {
  const auto* const linear = std::get_if<Linear>(&layer.op);
  return linear != nullptr && linear->weight_of.empty() ? linear : nullptr;
}

}  // namespace

std::shared_ptr<const CostModel> merging_products(const std::shared_ptr<const CostModel>& model) {
  if (model->merges_products()) return model;
  return std::make_shared<MergingModel>(model);
}

std::shared_ptr<const CostModel> products_apart(const std::shared_ptr<const CostModel>& model) {
  const auto* const merging = dynamic_cast<const MergingModel*>(model.get());
  return merging == nullptr ? model : merging->apart();
}

std::vector<LayerId> products_of_one_input(const Graph& graph, LayerId layer) {
  const Linear* const own = product_of(graph[layer]);
  if (own == nullptr) return {};
  std::vector<LayerId> layers;
  for (LayerId reader : graph.consumers(graph[layer].inputs.front())) {
    const Linear* const other = product_of(graph[reader]);
    if (other != nullptr && other->bias == own->bias) layers.push_back(reader);
  }
  if (layers.size() < 2) return {};
  return layers;
}

MergedProduct merged_product(const Graph& graph, std::span<const LayerId> layers, LayerId layer,
                             const Tile& shard) {
  const Layer& own = graph[layer];
  const std::int64_t whole = own.output[Dim::c], held = shard[Dim::c].size();
  std::int64_t columns = 0;
  for (LayerId each : layers) {
    columns += std::max<std::int64_t>(1, graph[each].output[Dim::c] * held / whole);
  }
  const bool bias = std::get<Linear>(own.op).bias, adds_bias = bias && shard.terms.begin == 0;
  MergedProduct merged{Linear{columns, bias},
                       extents(shard),
                       {columns * terms_in(own, shard), adds_bias ? columns : 0}};
  merged.output[Dim::c] = columns;
  merged.share = static_cast<double>(held) / static_cast<double>(columns);
  merged.first = layer == layers.front();
  merged.last = layer == layers.back();
  return merged;
}

}  // namespace strata
