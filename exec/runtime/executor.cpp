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
  const bool has_state =
      std::any_of(plan.buffers().begin(), plan.buffers().end(),
                  [](const Buffer& buffer) { return buffer.kind == BufferKind::optimizer_state; });
  const bool trains = std::any_of(plan.tasks().begin(), plan.tasks().end(), [](const Task& task) {
    return task.kind == TaskKind::compute && task.phase == Phase::update;
  });
  if (trains && has_state != (state_words(options.optimizer) > 0)) {
    throw InternalError("the plan has the state of another optimizer");
  }
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
    const BufferId buffer = program_.parameters(layer, shard);
    if (!buffer.valid() || !holds(buffer) || plan_[buffer].layer != layer) continue;
    std::vector<float> held(static_cast<std::size_t>(plan_[buffer].values));
    ParameterRows(graph_[layer], shard_tile(graph_, plan_, layer, shard))
        .read(held.data(), whole.data());
    backend_.copy_values(values(buffer), held.data(), plan_[buffer].values);
    backend_.finish();
  }
}

std::vector<float> Executor::parameters(LayerId layer) const {
  std::vector<float> whole(static_cast<std::size_t>(graph_[layer].held().total()));
  if (whole.empty()) return whole;
  for (std::size_t shard = 0; shard < plan_.placement(layer).devices.size(); ++shard) {
    const BufferId buffer = program_.parameters(layer, shard);
    if (!buffer.valid() || !holds(buffer)) continue;
    ParameterRows(graph_[layer], shard_tile(graph_, plan_, layer, shard))
        .write(whole.data(), on_host(values(buffer), plan_[buffer].values).data());
  }
  return whole;
}

std::vector<bool> Executor::holds(LayerId layer) const {
  std::vector<float> held(static_cast<std::size_t>(graph_[layer].held().total()));
  if (held.empty()) return {};
  const std::vector<float> ones(held.size(), 1);
  for (std::size_t shard = 0; shard < plan_.placement(layer).devices.size(); ++shard) {
    const BufferId buffer = program_.parameters(layer, shard);
    if (!buffer.valid() || !holds(buffer)) continue;
    ParameterRows(graph_[layer], shard_tile(graph_, plan_, layer, shard))
        .write(held.data(), ones.data());
  }
  return {held.begin(), held.end()};
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
