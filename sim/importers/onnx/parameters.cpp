#include "sim/importers/onnx/parameters.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

bool has_values(const OnnxTensor& tensor) {
  return tensor.proto && strata::has_values(*tensor.proto);
}

std::vector<std::string> names_of(const OnnxParameters& parameters) {
  std::vector<std::string> names;
  if (!parameters.weight.copied) names.push_back(parameters.weight.name);
  if (parameters.bias && !parameters.bias->copied) names.push_back(parameters.bias->name);
  return names;
}

// `rows` x `columns` from columns x rows.
std::vector<float> turned(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
  std::vector<float> result(values.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[r * columns + c] = values[c * rows + r];
  }
  return result;
}

class ParameterReader {
 public:
  explicit ParameterReader(const std::string& file)
      : file_(file), folder_(std::filesystem::path(file).parent_path().string()) {}

  // Every error is of one tensor; a layer with one has no values then.
  void append(const OnnxTensor& tensor, std::vector<float>& values) {
    wrong_.attempt([&] {
      const std::vector<float> more = values_of(tensor);
      values.insert(values.end(), more.begin(), more.end());
    });
  }
  void throw_if_any() const { wrong_.throw_if_any(); }

 private:
  std::vector<float> values_of(const OnnxTensor& tensor) const try {
    std::vector<float> values = float_values(*tensor.proto, folder_);
    if (!tensor.transposed) return values;
    return turned(values, static_cast<std::size_t>(tensor.dims[0]),
                  static_cast<std::size_t>(tensor.dims[1]));
  } catch (InputError& error) {
    error.add_context(fmt::format("{}: initializer '{}'", file_, shown(tensor.name)));
    throw;
  }

  std::string file_, folder_;
  Diagnostics wrong_;
};

}  // namespace

bool has_values(const OnnxParameters& parameters) {
  return has_values(parameters.weight) && (!parameters.bias || has_values(*parameters.bias));
}

std::size_t count_sharing(const OnnxNetwork& network) {
  std::map<std::string, int> readers;
  for (const auto& [layer, parameters] : network.parameters()) {
    for (const std::string& name : names_of(parameters)) ++readers[name];
  }
  const auto& all = network.parameters();
  const auto shares = [&](const auto& layer) {
    const std::vector<std::string> names = names_of(layer.second);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return readers.at(name) > 1; });
  };
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), shares));
}

std::vector<std::vector<float>> read_parameters(const OnnxNetwork& network,
                                                const std::string& file) {
  std::vector<std::vector<float>> values(network.size());
  ParameterReader reader(file);
  for (const auto& [layer, parameters] : network.parameters()) {
    if (!has_values(parameters)) continue;
    reader.append(parameters.weight, values[layer()]);
    if (parameters.bias) reader.append(*parameters.bias, values[layer()]);
  }
  reader.throw_if_any();
  return values;
}

}  // namespace strata
