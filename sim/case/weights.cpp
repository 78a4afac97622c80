#include "sim/case/weights.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "sim/base/counter_random.h"
#include "sim/base/error.h"
#include "sim/graph/finetuning.h"
#include "sim/importers/npy/npy.h"
#include "sim/text/diagnostics.h"
#include "sim/text/file.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

// One file: a tensor of a layer, and where it stands in the layer's parameters.
struct Tensor {
  std::string file;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0, size = 0;
};

constexpr std::string_view kWeight = ".weight.npy", kBias = ".bias.npy";
constexpr std::size_t kLongestName = 255;  // of a file, in bytes, on Linux

void check_file_name(const Layer& layer) {
  if (layer.name.find('/') != std::string::npos) {
    throw InputError(
        fmt::format("layer {}: a '/' in its name cannot be in that of a file; "
                    "allowed: names without",
                    layer.name));
  }
  const std::size_t longest = kLongestName - std::max(kWeight.size(), kBias.size());
  if (layer.name.size() <= longest) return;
  throw InputError(fmt::format(
      "layer {}: its name of {} bytes is too long for that of a file; allowed: {} bytes",
      layer.name, layer.name.size(), longest));
}

std::vector<Tensor> tensors(const std::string& folder, const Layer& layer) {
  const Parameters sizes = layer.held();
  if (sizes.total() > 0) check_file_name(layer);
  std::vector<Tensor> result;
  const std::string base = folder + "/" + layer.name;
  if (sizes.weight > 0) {
    result.push_back({base + std::string(kWeight), weight_shape(layer), 0, sizes.weight});
  }
  if (sizes.bias > 0) {
    result.push_back({base + std::string(kBias), {sizes.bias}, sizes.weight, sizes.bias});
  }
  return result;
}

void read_tensor(const Tensor& tensor, std::vector<float>& parameters) {
  const NpyArray<float> array = read_npy_floats(tensor.file);
  if (array.shape != tensor.shape) {
    throw InputError(fmt::format("{}: its shape is ({}); allowed: ({})", tensor.file,
                                 fmt::join(array.shape, ", "), fmt::join(tensor.shape, ", ")));
  }
  const auto wrong = std::find_if_not(array.values.begin(), array.values.end(),
                                      [](float x) { return std::isfinite(x); });
  if (wrong != array.values.end()) {
    throw InputError(fmt::format("{}: element {} is {}; allowed: finite numbers", tensor.file,
                                 wrong - array.values.begin(), *wrong));
  }
  std::copy(array.values.begin(), array.values.end(), parameters.begin() + tensor.begin);
}

constexpr double kVectorDeviation = 0.02;  // as GPT-2's and BERT's

// An adapter adds nothing before the first step: B begins at 0 (Hu et al. 2021).
std::vector<float> initial(const Layer& layer, bool begins_at_zero, std::uint64_t seed) {
  const Parameters sizes = layer.held();
  std::vector<float> values(static_cast<std::size_t>(sizes.total()));
  if (values.empty()) return values;
  if (traits(layer.op).scales_channels) {
    std::fill_n(values.begin(), sizes.weight, 1.0F);
    return values;
  }
  if (std::holds_alternative<ClassToken>(layer.op)) return values;
  if (begins_at_zero) return values;
  const CounterRandom random(seed, "weights " + layer.name);
  if (std::holds_alternative<Embedding>(layer.op) ||
      std::holds_alternative<PositionEmbedding>(layer.op) ||
      std::holds_alternative<Attention>(layer.op)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(kVectorDeviation * random.normal(i));
    }
    return values;
  }
  const std::int64_t fan_in = sizes.weight / sizes.rows(layer.output);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(bound * (2 * random.uniform(i) - 1));
  }
  const auto* const router = std::get_if<Router>(&layer.op);
  if (router != nullptr && router->correction) {  // begins at 0
    std::fill(values.begin() + sizes.weight, values.end(), 0.0F);
  }
  return values;
}

[[noreturn]] void fail_to_write(const std::string& folder, const std::error_code& error) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", folder, error.message()));
}

// A folder that takes its name when all is in it, and is gone where that never happens.
class NewFolder {
 public:
  explicit NewFolder(std::string name)
      : name_(std::move(name)), partial_(fmt::format("{}.partial-{}", name_, ::getpid())) {
    std::error_code error;
    fs::create_directory(partial_, error);
    if (error) fail_to_write(name_, error);
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!partial_.empty()) fs::remove_all(partial_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::string& partial() const { return partial_; }
  void finish() {
    std::error_code error;
    fs::rename(partial_, name_, error);
    if (error) fail_to_write(name_, error);
    partial_.clear();
  }

 private:
  std::string name_, partial_;
};

std::string without_slash(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

}  // namespace

std::vector<std::int64_t> weight_shape(const Layer& layer) {
  const std::int64_t rows = layer.output[Dim::c] / layer.parameters.channels_a_row;
  const auto* convolution = std::get_if<Convolution>(&layer.op);
  if (traits(layer.op).scales_channels || std::holds_alternative<ClassToken>(layer.op)) {
    return {layer.parameters.weight};
  }
  if (std::holds_alternative<Attention>(layer.op) && layer.parameters.weight == rows) {
    return {rows};  // sinks
  }
  if (traits(layer.op).terms_lead) return {layer.reduction, rows};
  if (layer.parameters.loops[Dim::d]) {
    return {layer.output[Dim::d], rows, layer.parameters.weight / rows / layer.output[Dim::d]};
  }
  if (convolution == nullptr) return {rows, layer.parameters.weight / rows};
  std::vector<std::int64_t> shape = {rows};
  std::int64_t taps = 1;
  for (int i = 3 - convolution->rank; i < 3; ++i) {
    const Dim dim = kDims[static_cast<std::size_t>(i) + 2];
    shape.push_back(convolution->windows[dim].kernel);
    taps *= shape.back();
  }
  shape.insert(shape.begin() + 1, layer.parameters.weight / rows / taps);
  return shape;
}

NetworkWeights initial_weights(const Graph& graph, std::uint64_t seed) {
  NetworkWeights weights;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const bool up = adapter_part(graph, LayerId(i)) == AdapterPart::up;
    weights.push_back(initial(graph[LayerId(i)], up, seed));
  }
  return weights;
}

NetworkWeights read_weights(const std::string& folder, const Graph& graph) {
  NetworkWeights weights;
  Diagnostics wrong;
  for (const Layer& layer : graph.layers()) {
    weights.emplace_back(static_cast<std::size_t>(layer.held().total()));
    for (const Tensor& tensor : tensors(folder, layer)) {
      wrong.attempt([&] { read_tensor(tensor, weights.back()); });
    }
  }
  wrong.throw_if_any();
  return weights;
}

void check_weight_files(const Graph& graph) {
  Diagnostics wrong;
  for (const Layer& layer : graph.layers()) {
    wrong.attempt([&] { tensors("", layer); });
  }
  wrong.throw_if_any();
}

void write_weights(const std::string& folder, const Graph& graph, const NetworkWeights& weights) {
  NewFolder target(without_slash(folder));
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (const Tensor& tensor : tensors(target.partial(), graph[LayerId(i)])) {
      const auto values = std::span<const float>(weights[i]).subspan(tensor.begin, tensor.size);
      write_file_whole(tensor.file, print_npy(tensor.shape, values), folder);
    }
  }
  target.finish();
}

void check_new_folder(const std::string& folder) {
  std::error_code error;
  const bool there = fs::exists(folder, error);
  if (there && (!fs::is_directory(folder, error) || !fs::is_empty(folder, error))) {
    throw InputError(
        fmt::format("{}: is there already; allowed: a new or an empty folder", folder));
  }
  fs::path parent = fs::path(without_slash(folder)).parent_path();
  if (parent.empty()) parent = ".";
  if (::access(parent.c_str(), W_OK | X_OK) != 0) {
    fail_to_write(folder, std::error_code(errno, std::generic_category()));
  }
}

}  // namespace strata
