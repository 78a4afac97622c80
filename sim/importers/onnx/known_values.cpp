#include "sim/importers/onnx/known_values.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"

namespace strata {
namespace {

// What shapes, bounds and scales are made of.
bool may_be_setting(const onnx::TensorProto& tensor) {
  return (holds_integers(tensor) || holds_floats(tensor)) &&
         element_count(dims_of(tensor)) <= kMostFolded;
}

bool is_here(const onnx::TensorProto& tensor) {
  return tensor.data_location() != onnx::TensorProto::EXTERNAL && has_values(tensor);
}

}  // namespace

void KnownValues::add(const std::string& name, TensorDims dims) {
  element_count(dims);  // which bounds their product
  for (const std::int64_t dim : dims) {
    if (dim <= kMaxElements) continue;
    throw InputError(
        fmt::format("its dims are {}; allowed: 0 to {} each", print_dims(dims), kMaxElements));
  }
  dims_[name] = std::move(dims);
}

void KnownValues::add_integers(const std::string& name, std::vector<std::int64_t> values) {
  integers_[name] = std::move(values);
}

void KnownValues::add_tensor(const std::string& name, const onnx::TensorProto& tensor) {
  add(name, dims_of(tensor));
  if (!may_be_setting(tensor)) return;
  if (holds_integers(tensor)) integer_values(tensor);  // which checks them
  tensors_[name] = &tensor;
}

void KnownValues::add_constant(const std::string& name, onnx::TensorProto tensor) {
  add_tensor(name, constants_.emplace_back(std::move(tensor)));
}

const TensorDims* KnownValues::dims(const std::string& name) const {
  const auto at = dims_.find(name);
  return at == dims_.end() ? nullptr : &at->second;
}

std::optional<KnownIntegers> KnownValues::integers(const std::string& name) const {
  const onnx::TensorProto* given = tensor(name);
  if (given != nullptr && holds_integers(*given))
    return KnownIntegers{dims_of(*given), integer_values(*given)};
  const TensorDims* dims = this->dims(name);
  const auto computed = integers_.find(name);
  if (dims == nullptr || computed == integers_.end()) return std::nullopt;
  if (element_count(*dims) != std::ssize(computed->second)) return std::nullopt;
  return KnownIntegers{*dims, computed->second};
}

std::optional<double> KnownValues::number(const std::string& name) const {
  if (const auto at = numbers_.find(name); at != numbers_.end()) return at->second;
  const onnx::TensorProto* given = tensor(name);
  const bool one =
      given && holds_floats(*given) && is_here(*given) && element_count(dims_of(*given)) == 1;
  return one ? std::optional(scalar_value(*given)) : std::nullopt;
}

std::optional<std::vector<float>> KnownValues::floats(const std::string& name) const {
  const onnx::TensorProto* given = tensor(name);
  if (given == nullptr || !holds_floats(*given) || !is_here(*given)) return std::nullopt;
  return float_values(*given, "");
}

const onnx::TensorProto* KnownValues::tensor(const std::string& name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : at->second;
}

std::optional<std::vector<std::int64_t>> KnownNode::integers(int i) const {
  auto known = has_input(i) ? values_.integers(node_.input(i)) : std::nullopt;
  return known ? std::optional(std::move(known->values)) : std::nullopt;
}

std::optional<std::vector<float>> KnownNode::floats(int i) const {
  return has_input(i) ? values_.floats(node_.input(i)) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> KnownNode::integers(const char* attribute, int i) const {
  if (has_input(i)) return integers(i);
  return attributes_.integers(attribute);
}

}  // namespace strata
