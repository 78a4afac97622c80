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

// Of some rows of a tensor the first one tells them from the others.
std::string name_of(const OnnxTensor& tensor) {
  if (tensor.rows.empty()) return tensor.name;
  return fmt::format("{}[{}]", tensor.name, tensor.rows.front());
}

std::vector<std::string> names_of(const OnnxParameters& parameters) {
  std::vector<std::string> names;
  if (!parameters.weight.copied) names.push_back(name_of(parameters.weight));
  if (parameters.bias && !parameters.bias->copied) names.push_back(name_of(*parameters.bias));
  return names;
}

// `rows` x `columns` from columns x rows, which may be more.
std::vector<float> turned(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
  std::vector<float> result(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[r * columns + c] = values[c * rows + r];
  }
  return result;
}

// The rows that a tensor has of the file's, each of as many values.
std::vector<float> rows_in(const std::vector<float>& values, const OnnxTensor& tensor) {
  if (tensor.rows.empty()) return values;
  const std::int64_t row = tensor.dims.size() < 2 ? 1 : tensor.dims[1];
  std::vector<float> result;
  result.reserve(tensor.rows.size() * static_cast<std::size_t>(row));
  for (const std::int64_t at : tensor.rows)
    result.insert(result.end(), values.begin() + at * row, values.begin() + (at + 1) * row);
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
    if (!tensor.transposed) return rows_in(values, tensor);
    const auto columns = static_cast<std::size_t>(tensor.dims[1]);
    const bool whole = tensor.rows.empty();
    const std::size_t rows =
        whole ? static_cast<std::size_t>(tensor.dims[0]) : values.size() / columns;
    return rows_in(turned(values, rows, columns), tensor);
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
