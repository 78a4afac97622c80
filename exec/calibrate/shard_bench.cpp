#include "exec/calibrate/shard_bench.h"

#include <algorithm>
#include <array>
#include <variant>

#include "sim/graph/regions.h"

namespace strata {
namespace {

constexpr std::array<Phase, 2> kForward = {Phase::forward_statistics, Phase::forward};
constexpr std::array<Phase, 4> kBackward = {Phase::backward_statistics, Phase::backward_data,
                                            Phase::backward_weights, Phase::update};

/// The places of `input` where a producer that is cut alike would have this part of the output.
Box cut_alike(const Box& output, const Extents& whole, const Extents& input) {
  Box box;
  for (Dim dim : kDims) box[dim] = same_part(whole[dim], output[dim], input[dim]);
  return box;
}

/// What the shard's kernel is given: where a producer that is cut alike has all that is needed, its
/// output as it lies there, which may be more; else what is gathered, which is no more. One that
/// adds up some terms is given these.
std::vector<Box> given_input(const Graph& graph, LayerId layer, std::size_t i, const Tile& output) {
  std::vector<Box> boxes = needed_input(graph, layer, i, output);
  if (boxes.empty()) return {Box{}};
  if (output.terms != Tile::kAllTerms) return boxes;
  const Box near = cut_alike(output, graph[layer].output, graph[graph[layer].inputs[i]].output);
  if (boxes.size() == 1 && intersect(near, boxes.front()) == boxes.front()) return {near};
  return boxes;
}

/// Of tokens, all over the vocabulary.
std::vector<float> spread_numbers(std::int64_t count, std::int64_t vocabulary) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    numbers[static_cast<std::size_t>(i)] = static_cast<float>(i * 7919 % vocabulary);
  }
  return numbers;
}

}  // namespace

ShardBench::ShardBench(Backend& backend, DeviceId device, const Graph& graph, LayerId layer,
                       const Tile& output, Optimizer optimizer)
    : backend_(backend), device_(device), optimizer_(optimizer) {
  spec_ = {&graph, layer, output, {}, true, 0};
  for (std::size_t i = 0; i < graph[layer].inputs.size(); ++i) {
    spec_.inputs.push_back(given_input(graph, layer, i, output));
  }
  in_place_ = is_elementwise(graph[layer].op) && !backward_reads_input(graph[layer].op);
  const Statistics sizes = statistics(graph[layer], output);
  const std::int64_t values = std::max(sizes.forward_values, sizes.backward_values);
  parameter_count_ = shard_parameters(graph[layer], output).total();
  if (parameter_count_ > 0) {
    parameters_ = make_lasting(parameter_count_);
    backend.fill_values(parameters_, parameter_count_);
    make_state();
  }
  if (values > 0) {
    statistics_ = make_lasting(values);
    backend.fill_values(statistics_, values);
  }
  const Extents& whole = graph[layer].output;
  labels_.resize(static_cast<std::size_t>(volume(whole) / whole[Dim::c]));
  if (const auto* table = std::get_if<Embedding>(&graph[layer].op)) {
    numbers_ = spread_numbers(volume(spec_.inputs.front().front()), table->vocabulary);
  }
  kernel_ = backend.make_kernel(device, spec_);
}

ShardBench::~ShardBench() {
  end();
  for (void* memory : lasting_) backend_.release(device_, memory);
}

float* ShardBench::make_lasting(std::int64_t count) {
  lasting_.push_back(backend_.allocate(device_, count * static_cast<std::int64_t>(sizeof(float))));
  return static_cast<float*>(lasting_.back());
}

// Zeros, as in a step: Adam takes roots of what it keeps.
void ShardBench::make_state() {
  const std::int64_t count = state_words(optimizer_) * parameter_count_;
  if (count == 0) return;
  state_ = make_lasting(count);
  const std::vector<float> zeros(static_cast<std::size_t>(count));
  backend_.copy_values(state_, zeros.data(), count);
  backend_.finish();
}

Bytes ShardBench::bytes_of_step(const Backend& backend, const Graph& graph, LayerId layer,
                                const Tile& output) {
  std::int64_t sum = backend.bytes(output) + backend.saved_bytes(graph[layer], output);
  for (std::size_t i = 0; i < graph[layer].inputs.size(); ++i) {
    for (const Box& box : given_input(graph, layer, i, output)) sum += backend.bytes(box);
  }
  return {sum};
}

// A kernel may keep its parameters once more, in another form.
Bytes ShardBench::lasting_bytes(const Graph& graph, LayerId layer, const Tile& output,
                                Optimizer optimizer) {
  const std::int64_t values =
      (2 + state_words(optimizer)) * shard_parameters(graph[layer], output).total();
  return {values * static_cast<std::int64_t>(sizeof(float))};
}

std::span<const Phase> ShardBench::phases(bool forward) {
  if (forward) return kForward;
  return kBackward;
}

Region ShardBench::take(const Box& box) {
  if (empty(box)) return {};
  of_step_.push_back(backend_.allocate(device_, backend_.bytes(box)));
  return {of_step_.back(), box};
}

float* ShardBench::take_values(std::int64_t count) {
  of_step_.push_back(backend_.allocate(device_, count * static_cast<std::int64_t>(sizeof(float))));
  return static_cast<float*>(of_step_.back());
}

// Just now, front to back, as the kernel before would have. Blocks' unused places get values, too:
// nobody looks at the results.
void ShardBench::write(const Region& region) {
  if (region.data != nullptr) backend_.fill(region);
}

void ShardBench::begin_forward() {
  inputs_.clear();
  for (const auto& boxes : spec_.inputs) {
    for (const Box& box : boxes) inputs_.push_back(take(box));
  }
  output_ = in_place_ ? inputs_.front() : take(spec_.output);
  const std::int64_t kept = backend_.saved_bytes(*spec_, spec_.output);
  if (kept > 0) of_step_.push_back(saved_ = backend_.allocate(device_, kept));
  for (const Region& input : inputs_) write(input);
  if (!numbers_.empty()) backend_.unpack(inputs_.front(), numbers_.data(), inputs_.front().box);
}

void ShardBench::begin_backward() {
  output_gradient_ = take(spec_.output);
  input_gradients_.clear();
  for (const Region& input : inputs_) {
    input_gradients_.push_back(in_place_ ? output_gradient_ : take(input.box));
  }
  if (parameter_count_ > 0) gradients_ = take_values(parameter_count_);
  write(output_gradient_);
}

void ShardBench::run(Phase phase) {
  StepContext context{0, 0, labels_};
  context.optimizer = optimizer_;
  context.constants = traits(optimizer_).usual;
  Operands operands;
  operands.inputs = inputs_;
  operands.output = output_;
  operands.output_gradient = output_gradient_;
  operands.input_gradients = input_gradients_;
  operands.parameters = parameters_;
  operands.parameter_gradients = gradients_;
  operands.optimizer_state = state_;
  operands.statistics = statistics_;
  operands.saved = saved_;
  operands.step = &context;
  kernel_->run(phase, operands);
}

void ShardBench::end() {
  for (void* memory : of_step_) backend_.give_back(device_, memory);
  of_step_.clear();
  saved_ = nullptr;
  inputs_.clear();
  input_gradients_.clear();
}

}  // namespace strata
