#include "sim/importers/onnx/functions.h"

#include <array>
#include <climits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/graph.h"
#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/names.h"
#include "sim/importers/onnx/newer_fields.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

using Attributes = std::map<std::string, onnx::AttributeProto>;
using Names = std::map<std::string, std::string>;

constexpr std::size_t kDeepest = 64;  ///< functions that call one another

// Its domain, its name and, in a field that is newer, which of several of that name it is.
using FunctionKey = std::array<std::string, 3>;

FunctionKey key_of(const onnx::FunctionProto& function) {
  constexpr int kOverload = 13;
  return {function.domain(), function.name(), text_in(function, kOverload)};
}

FunctionKey key_of(const onnx::NodeProto& call) {
  constexpr int kOverload = 8;
  return {call.domain(), call.op_type(), text_in(call, kOverload)};
}

std::string full_name(const onnx::FunctionProto& function) {
  return fmt::format("{}.{}", shown(function.domain()), shown(function.name()));
}

template <class Proto>
std::int64_t opset_in(const Proto& imports) {
  for (const auto& import : imports.opset_import()) {
    if (is_onnx_domain(import.domain())) return import.version();
  }
  return 0;
}

// What a call says of a function's attributes, and what the function has where it says nothing.
Attributes attributes_of(const onnx::FunctionProto& function, const onnx::NodeProto& call) {
  constexpr int kDefaults = 11;  // of a FunctionProto
  Attributes attributes;
  for (const std::string& bytes : messages_in(function, kDefaults)) {
    onnx::AttributeProto attribute;
    if (attribute.ParseFromString(bytes)) attributes[attribute.name()] = attribute;
  }
  for (const auto& attribute : call.attribute()) attributes[attribute.name()] = attribute;
  return attributes;
}

void set_attributes(onnx::NodeProto& node, const Attributes& attributes) {
  const auto all = std::move(*node.mutable_attribute());
  node.clear_attribute();
  for (const auto& attribute : all) {
    if (attribute.ref_attr_name().empty()) {
      *node.add_attribute() = attribute;
      continue;
    }
    const auto at = attributes.find(attribute.ref_attr_name());
    if (at == attributes.end()) continue;  // then the op's own default holds
    *node.add_attribute() = at->second;
    node.mutable_attribute(node.attribute_size() - 1)->set_name(attribute.name());
  }
}

// The names of a function's inputs and outputs where it is called; what it leaves out has none.
Names names_at(const onnx::FunctionProto& function, const onnx::NodeProto& call) {
  const auto take = [](Names& names, const auto& formal, const auto& actual) {
    if (actual.size() > formal.size())
      throw InputError(fmt::format("it has {} inputs or outputs; allowed: {}, as its function",
                                   actual.size(), formal.size()));
    for (int i = 0; i < formal.size(); ++i)
      names[formal.Get(i)] = i < actual.size() ? actual.Get(i) : "";
  };
  Names outputs, names;
  take(outputs, function.output(), call.output());
  for (auto& [formal, actual] : outputs) {
    if (!actual.empty()) names[formal] = std::move(actual);
  }
  take(names, function.input(), call.input());
  return names;
}

class Inlining {
 public:
  explicit Inlining(const onnx::ModelProto& model) : opset_(opset_in(model)) {
    for (const auto& function : model.functions()) {
      if (functions_.emplace(key_of(function), &function).second) continue;
      throw InputError(
          fmt::format("its function {} is defined twice; allowed: once", full_name(function)));
    }
  }

  // Of the graph first, and then of functions.
  void add(const onnx::NodeProto& node) {
    const auto at = functions_.find(key_of(node));
    if (at == functions_.end()) return append(node);
    const onnx::FunctionProto& function = *at->second;
    if (!open_.insert(&function).second)
      throw InputError(fmt::format("its function {} calls itself", full_name(function)));
    if (open_.size() > kDeepest) {
      throw InputError(fmt::format("its functions call each other more than {} deep", kDeepest));
    }
    if (const std::int64_t opset = opset_in(function); opset != 0 && opset != opset_) {
      throw InputError(fmt::format("its function {} is of opset {}; allowed: {}, as the model",
                                   full_name(function), opset, opset_));
    }
    call(function, node);
    open_.erase(&function);
  }

  std::vector<onnx::NodeProto> take() { return std::move(nodes_); }

 private:
  void call(const onnx::FunctionProto& function, const onnx::NodeProto& node) {
    const std::string prefix =
        fmt::format("{}/", node.name().empty() ? node.op_type() : node.name());
    const std::string scope = fmt::format("{}{}/", prefix, ++calls_);
    const Names names = names_at(function, node);
    const Attributes attributes = attributes_of(function, node);
    const auto rename = [&](std::string& name) {
      if (name.empty()) return;
      const auto at = names.find(name);
      name = at == names.end() ? scope + name : at->second;
    };
    for (onnx::NodeProto inner : function.node()) {
      for (std::string& name : *inner.mutable_input()) rename(name);
      for (std::string& name : *inner.mutable_output()) rename(name);
      inner.set_name(prefix + (inner.name().empty() ? inner.op_type() : inner.name()));
      set_attributes(inner, attributes);
      check_room(inner);
      add(inner);
    }
  }

  // Functions that call others can double the graph with each.
  void check_room(const onnx::NodeProto& node) {
    bytes_ += node.ByteSizeLong();
    if (++inlined_ <= kMaxLayers && bytes_ <= INT_MAX) return;
    throw InputError(
        fmt::format("with the nodes of its functions the graph has more than {} nodes "
                    "or 2 GiB",
                    kMaxLayers));
  }

  void append(const onnx::NodeProto& node) { nodes_.push_back(node); }

  std::int64_t opset_;
  std::map<FunctionKey, const onnx::FunctionProto*> functions_;
  std::set<const onnx::FunctionProto*> open_;
  std::vector<onnx::NodeProto> nodes_;
  std::size_t calls_ = 0, inlined_ = 0, bytes_ = 0;
};

}  // namespace

void inline_functions(onnx::ModelProto& model, const std::string& file) try {
  if (model.functions_size() == 0 || !model.has_graph()) return;
  Inlining inlining(model);
  int number = 0;
  for (const auto& node : model.graph().node()) {
    try {
      inlining.add(node);
    } catch (InputError& error) {
      error.add_context(shown(node, number));
      throw;
    }
    ++number;
  }
  model.mutable_graph()->clear_node();
  for (onnx::NodeProto& node : inlining.take())
    *model.mutable_graph()->add_node() = std::move(node);
} catch (const InputError& error) {
  fail({file, 0}, error.message());
}

}  // namespace strata
