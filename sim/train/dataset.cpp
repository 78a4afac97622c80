#include "sim/train/dataset.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/counter_random.h"
#include "sim/base/error.h"
#include "sim/importers/npy/npy.h"

namespace strata {
namespace {

std::vector<LayerId> network_inputs(const Graph& graph) {
  std::vector<LayerId> inputs;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (is_input(graph[LayerId(i)].op)) inputs.emplace_back(i);
  }
  return inputs;
}

std::int64_t sample_size(const Layer& input) {
  Extents sample = input.output;
  sample[Dim::n] = 1;
  return volume(sample);
}

// C, [D,] [H,] W: from the first spatial dim that is more than 1.
std::vector<std::int64_t> sample_shape(const Extents& output) {
  std::vector<std::int64_t> shape = {output[Dim::c]};
  const bool deep = output[Dim::d] > 1;
  const bool high = deep || output[Dim::h] > 1;
  if (deep) shape.push_back(output[Dim::d]);
  if (high) shape.push_back(output[Dim::h]);
  if (high || output[Dim::w] > 1) shape.push_back(output[Dim::w]);
  return shape;
}

// `shape` without N, with the dims of extent 1 that may stand between C and the others put aside.
bool is_sample_shape(std::vector<std::int64_t> shape, const Extents& output) {
  const std::vector<std::int64_t> least = sample_shape(output);
  if (shape.empty() || shape.size() > kDims.size() - 1) return false;
  while (shape.size() > least.size() && shape[1] == 1) shape.erase(shape.begin() + 1);
  return shape == least;
}

// Of what reads the input, the fewest numbers that an embedding has vectors for; none without one.
std::optional<std::int64_t> vocabulary(const Graph& graph, LayerId input) {
  std::optional<std::int64_t> least;
  for (LayerId reader : graph.consumers(input)) {
    const auto* table = std::get_if<Embedding>(&graph[reader].op);
    if (table != nullptr) least = std::min(least.value_or(table->vocabulary), table->vocabulary);
  }
  return least;
}

void check_numbers(const std::string& file, const NpyArray<float>& array, const Layer& input,
                   std::int64_t vocabulary) {
  const auto bad = std::find_if(array.values.begin(), array.values.end(), [&](float value) {
    return value < 0 || value >= static_cast<float>(vocabulary) || value != std::floor(value);
  });
  if (bad == array.values.end()) return;
  throw InputError(fmt::format("{}: sample {} has the token {}; allowed: whole numbers, 0 to {}",
                               file, (bad - array.values.begin()) / sample_size(input), *bad,
                               vocabulary - 1));
}

void check_input(const std::string& file, const NpyArray<float>& array, const Layer& input) {
  const auto& shape = array.shape;
  const bool some = !shape.empty() && shape.front() > 0;
  if (!some || !is_sample_shape({shape.begin() + 1, shape.end()}, input.output)) {
    throw InputError(fmt::format("{}: its shape is ({}); allowed: (N, {}), N at least 1", file,
                                 fmt::join(shape, ", "),
                                 fmt::join(sample_shape(input.output), ", ")));
  }
  const auto bad = std::find_if(array.values.begin(), array.values.end(),
                                [](float value) { return !std::isfinite(value); });
  if (bad == array.values.end()) return;
  throw InputError(fmt::format("{}: sample {} has the value {}; allowed: finite numbers", file,
                               (bad - array.values.begin()) / sample_size(input), *bad));
}

void check_labels(const std::string& file, const NpyArray<std::int64_t>& labels,
                  std::int64_t samples, std::int64_t each, std::int64_t classes) {
  std::vector<std::int64_t> shape = {samples};
  if (each > 1) shape.push_back(each);
  if (labels.shape != shape) {
    throw InputError(fmt::format("{}: its shape is ({}); allowed: ({}), a label for every {}", file,
                                 fmt::join(labels.shape, ", "), fmt::join(shape, ", "),
                                 each > 1 ? "position of every sample" : "sample"));
  }
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    const std::int64_t label = labels.values[i];
    if (label >= 0 && label < classes) continue;
    throw InputError(fmt::format("{}: sample {} has the label {}; allowed: 0 to {}", file,
                                 static_cast<std::int64_t>(i) / each, label, classes - 1));
  }
}

// The first `more` of `period` elements once more, again and again, behind them.
template <class T>
void extend(std::vector<T>& values, std::int64_t more) {
  const std::size_t period = values.size();
  values.resize(period + static_cast<std::size_t>(more));
  for (std::size_t i = period; i < values.size(); ++i) values[i] = values[i - period];
}

}  // namespace

std::int64_t class_count(const Graph& graph) {
  std::optional<std::int64_t> least;
  for (const Layer& layer : graph.layers()) {
    if (!is_loss(layer.op)) continue;
    least = std::min(least.value_or(layer.output[Dim::c]), layer.output[Dim::c]);
  }
  if (least) return *least;
  throw InputError(fmt::format(
      "{}: the network has no loss to train; allowed: one that ends in softmax_cross_entropy",
      graph.name()));
}

std::int64_t labels_of_sample(const Graph& graph) {
  std::optional<std::int64_t> each;
  for (const Layer& layer : graph.layers()) {
    if (!is_loss(layer.op)) continue;
    const std::int64_t positions = layer.output[Dim::w];
    if (each.value_or(positions) != positions) {
      throw InputError(
          fmt::format("{}: its losses judge {} and {} positions of a sample; allowed: "
                      "losses that share their labels",
                      graph.name(), *each, positions));
    }
    each = positions;
  }
  return each.value_or(1);
}

void Dataset::repeat_first_samples() {
  extend(labels_, (batch_ - 1) * labels_of_sample_);
  for (std::size_t i = 0; i < inputs_.size(); ++i) extend(inputs_[i], (batch_ - 1) * sizes_[i]);
}

Batch Dataset::range(std::int64_t first, std::int64_t count) const {
  Batch batch;
  batch.number = static_cast<std::uint64_t>(first);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    batch.inputs.push_back(std::span(inputs_[i]).subspan(first * sizes_[i], count * sizes_[i]));
  }
  batch.labels = std::span(labels_).subspan(first * labels_of_sample_, count * labels_of_sample_);
  return batch;
}

Batch Dataset::batch(std::uint64_t step) const {
  const auto samples = static_cast<std::uint64_t>(samples_);
  const std::uint64_t first = step % samples * (static_cast<std::uint64_t>(batch_) % samples);
  return range(static_cast<std::int64_t>(first % samples), batch_);
}

Dataset load_dataset(const std::string& folder, const Graph& graph) {
  const std::vector<LayerId> inputs = network_inputs(graph);
  const std::string label_file = folder + "/labels.npy";
  Dataset data;
  std::string first_file;
  for (LayerId id : inputs) {
    const Layer& input = graph[id];
    const std::string file =
        fmt::format("{}/{}.npy", folder, inputs.size() == 1 ? "input" : input.name);
    NpyArray<float> values = read_npy_floats(file);
    check_input(file, values, input);
    if (const auto numbers = vocabulary(graph, id)) check_numbers(file, values, input, *numbers);
    if (data.inputs_.empty()) {
      data.samples_ = values.shape.front();
      first_file = file;
    } else if (values.shape.front() != data.samples_) {
      throw InputError(fmt::format("{}: it has {} samples; allowed: {}, as {} has", file,
                                   values.shape.front(), data.samples_, first_file));
    }
    data.sizes_.push_back(sample_size(input));
    data.inputs_.push_back(std::move(values.values));
  }
  NpyArray<std::int64_t> labels = read_npy_integers(label_file);
  data.labels_of_sample_ = labels_of_sample(graph);
  check_labels(label_file, labels, data.samples_, data.labels_of_sample_, class_count(graph));
  data.batch_ = graph.batch();
  data.labels_ = std::move(labels.values);
  data.repeat_first_samples();
  return data;
}

Dataset synthetic_dataset(const Graph& graph, std::uint64_t seed) {
  Dataset data;
  data.samples_ = data.batch_ = graph.batch();
  for (LayerId id : network_inputs(graph)) {
    const CounterRandom random(seed, "input " + graph[id].name);
    data.sizes_.push_back(sample_size(graph[id]));
    auto& values = data.inputs_.emplace_back(data.sizes_.back() * data.samples_);
    const std::optional<std::int64_t> numbers = vocabulary(graph, id);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] =
          static_cast<float>(numbers ? std::floor(static_cast<double>(*numbers) * random.uniform(i))
                                     : random.normal(i));
    }
  }
  const CounterRandom random(seed, "labels");
  const auto classes = static_cast<double>(class_count(graph));
  data.labels_of_sample_ = labels_of_sample(graph);
  for (std::int64_t i = 0; i < data.samples_ * data.labels_of_sample_; ++i) {
    data.labels_.push_back(static_cast<std::int64_t>(classes * random.uniform(i)));
  }
  data.repeat_first_samples();
  return data;
}

}  // namespace strata
