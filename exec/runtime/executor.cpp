#include "exec/runtime/executor.h"

#include <algorithm>
#include <variant>

#include "exec/runtime/run.h"
#include "sim/graph/parameter_rows.h"
#include "sim/graph/regions.h"

namespace strata {
namespace {

Tile shard_tile(const Graph& graph, const Plan& plan, LayerId layer, std::size_t shard) {
  return partition(graph[layer], plan.placement(layer).degrees)
      .tile(static_cast<std::int64_t>(shard));
}

}  // namespace

Executor::Executor(const Graph& graph, const Plan& plan, Backend& backend,
                   const ExecutionOptions& options, DeviceId only)
    : graph_(graph),
      plan_(plan),
      backend_(backend),
      options_(options),
      only_(only),
      program_(graph, plan),
      memory_(plan.buffers().size()),
      kernels_(program_.kernels().size()),
      loaded_(plan.buffers().size()),
      gradients_(graph.size()) {
  try {
    allocate_lasting();
  } catch (...) {  // there is no destructor to do it yet
    release_all();
    throw;
  }
}

Executor::~Executor() {
  release_all();
}

void Executor::allocate_lasting() {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const BufferId id(i);
    if (!program_.stays(id) || !holds(id)) continue;
    memory_[i] = allocate(id);
    if (plan_[id].kind != BufferKind::optimizer_state) continue;
    const std::vector<float> zeros(static_cast<std::size_t>(plan_[id].values));
    backend_.copy_values(values(id), zeros.data(), plan_[id].values);
    backend_.finish();
  }
}

void Executor::release_all() {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (memory_[i] != nullptr) backend_.release(plan_.buffers()[i].device, memory_[i]);
  }
}

std::int64_t Executor::bytes(BufferId id) const {
  std::int64_t sum = plan_[id].values * static_cast<std::int64_t>(sizeof(float));
  const bool tensor = plan_[id].kind != BufferKind::saved;
  for (const Box& box : plan_.boxes(id)) {
    sum += tensor ? backend_.bytes(box) : backend_.places(box) * plan_[id].element_bytes;
  }
  return sum;
}

void* Executor::allocate(BufferId id) {
  return backend_.allocate(plan_[id].device, bytes(id));
}

void Executor::set_parameters(LayerId layer, std::span<const float> whole) {
  if (graph_[layer].weight_of.valid()) return;
  for (std::size_t i = layer(); i < graph_.size(); ++i) {
    if (i == layer() || graph_[LayerId(i)].weight_of == layer) set_shards(LayerId(i), whole);
  }
}

// Of a layer that shares a weight: where it has a copy.
void Executor::set_shards(LayerId layer, std::span<const float> whole) {
  for (std::size_t shard = 0; shard < plan_.placement(layer).devices.size(); ++shard) {
    if (!holds_some(layer, shard)) continue;
    const Tile tile = shard_tile(graph_, plan_, layer, shard);
    std::vector<float> held(
        static_cast<std::size_t>(shard_parameters(graph_[layer], tile).total()));
    ParameterRows(graph_[layer], tile).read(held.data(), whole.data());
    for (const ParameterPart& part : program_.parameters(layer, shard)) {
      if (!holds(part.buffer)) continue;
      backend_.copy_values(values(part.buffer) + part.first, held.data() + part.values.begin,
                           part.values.size());
    }
    backend_.finish();
  }
}

std::vector<float> Executor::parameters(LayerId layer) const {
  std::vector<float> whole(static_cast<std::size_t>(graph_[layer].held().total()));
  if (whole.empty()) return whole;
  for (std::size_t shard = 0; shard < plan_.placement(layer).devices.size(); ++shard) {
    with_parts(layer, shard, whole, [this](const ParameterPart& part) {
      return on_host(values(part.buffer) + part.first, part.values.size());
    });
  }
  return whole;
}

std::vector<bool> Executor::holds(LayerId layer) const {
  std::vector<float> held(static_cast<std::size_t>(graph_[layer].held().total()));
  if (held.empty()) return {};
  for (std::size_t shard = 0; shard < plan_.placement(layer).devices.size(); ++shard) {
    with_parts(layer, shard, held, [](const ParameterPart& part) {
      return std::vector<float>(static_cast<std::size_t>(part.values.size()), 1);
    });
  }
  return {held.begin(), held.end()};
}

bool Executor::holds_some(LayerId layer, std::size_t shard) const {
  const auto parts = program_.parameters(layer, shard);
  return std::any_of(parts.begin(), parts.end(),
                     [this](const ParameterPart& part) { return holds(part.buffer); });
}

// Writes what is here of a shard into the whole layer's values.
template <class ValuesOf>
void Executor::with_parts(LayerId layer, std::size_t shard, std::vector<float>& whole,
                          const ValuesOf& values_of) const {
  if (!holds_some(layer, shard)) return;
  const Tile tile = shard_tile(graph_, plan_, layer, shard);
  const ParameterRows rows(graph_[layer], tile);
  std::vector<float> held(static_cast<std::size_t>(shard_parameters(graph_[layer], tile).total()));
  rows.read(held.data(), whole.data());
  for (const ParameterPart& part : program_.parameters(layer, shard)) {
    if (!holds(part.buffer)) continue;
    const std::vector<float> own = values_of(part);
    std::copy(own.begin(), own.end(), held.begin() + part.values.begin);
  }
  rows.write(whole.data(), held.data());
}

// Replicas hold the same sum and may be here at once; each writes it over the other's.
void Executor::keep_gradient(const Task& task, const float* gradients) {
  const Tile shard = shard_tile(graph_, plan_, task.layer, task.shard);
  const std::vector<float> held =
      on_host(gradients, shard_parameters(graph_[task.layer], shard).total());
  const std::lock_guard lock(gradients_mutex_);
  const LayerId owner = graph_[task.layer].weight_of;  // of which this is a copy
  const LayerId layer = owner.valid() ? owner : task.layer;
  ParameterRows(graph_[task.layer], shard).write(gradients_[layer()].data(), held.data());
}

void Executor::keep_interval(TaskId update, const float* gradients) {
  for (const Program::UpdatedPart& part : program_.updated(update)) {
    const Layer& layer = graph_[part.layer];
    const Tile tile = shard_tile(graph_, plan_, part.layer, part.shard);
    const ParameterRows rows(layer, tile);
    const std::vector<float> own = on_host(gradients + part.first, part.values.size());
    std::vector<float> held(static_cast<std::size_t>(shard_parameters(layer, tile).total()));
    const std::lock_guard lock(gradients_mutex_);
    std::vector<float>& whole =
        gradients_[layer.weight_of.valid() ? layer.weight_of() : part.layer()];
    rows.read(held.data(), whole.data());
    std::copy(own.begin(), own.end(), held.begin() + part.values.begin);
    rows.write(whole.data(), held.data());
  }
}

std::vector<float> Executor::on_host(const float* values, std::int64_t count) const {
  std::vector<float> held(static_cast<std::size_t>(count));
  backend_.copy_values(held.data(), values, count);
  backend_.finish();
  return held;
}

void Executor::before_run() {
  if (!options_.keep_gradients) return;
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    gradients_[i].assign(static_cast<std::size_t>(graph_[LayerId(i)].held().total()), 0);
  }
}

Execution Executor::run(std::size_t steps, const BatchOf& batch_of,
                        const std::atomic<bool>* cancelled) {
  before_run();
  Execution result = Run(*this, steps, batch_of, cancelled).execute();
  after_run(steps);
  return result;
}

}  // namespace strata
