#include "exec/cuda/products/cudnn_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "exec/cuda/products/cudnn_operation.h"
#include "sim/text/split.h"

namespace strata::cuda {
namespace {

using Notes = std::vector<cudnnBackendNumericalNote_t>;

/// Sums in fp32 and always in the same order. IEEE products are made without tensor cores, and
/// neither Winograd's nor Fourier's way, which lose digits.
bool keeps(Precision precision, const Notes& notes) {
  const auto has = [&](cudnnBackendNumericalNote_t note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  if (has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return false;
  if (has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return false;
  if (precision != Precision::fp32) return true;
  return !has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) && !has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) &&
         !has(CUDNN_NUMERICAL_NOTE_FFT) && !has(CUDNN_NUMERICAL_NOTE_WINOGRAD);
}

Notes notes_of(const Descriptor& engine) {
  return engine.values<cudnnBackendNumericalNote_t>(
      CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
}

std::string name_of(const Descriptor& config, const Descriptor& engine) {
  std::string name =
      std::to_string(engine.value<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64));
  for (const Descriptor& knob :
       config.parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                    CUDNN_KNOB_TYPE_COUNTS)) {
    const auto type =
        knob.value<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE);
    const auto turned =
        knob.value<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64);
    name += fmt::format(" {}={}", static_cast<int>(type), turned);
  }
  return name;
}

template <class Number>
bool whole_number_of(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

/// What a name says.
struct TurnedEngine {
  std::int64_t number = 0;
  std::vector<std::pair<int, std::int64_t>> knobs;  ///< type and value
};

std::optional<TurnedEngine> parse_name(std::string_view name) {
  const std::vector<std::string_view> words = split(name, ' ');
  TurnedEngine engine;
  if (!whole_number_of(words[0], engine.number)) return std::nullopt;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::vector<std::string_view> sides = split(words[i], '=');
    auto& [type, value] = engine.knobs.emplace_back();
    if (sides.size() != 2 || !whole_number_of(sides[0], type) ||
        !whole_number_of(sides[1], value)) {
      return std::nullopt;
    }
  }
  return engine;
}

}  // namespace

ConvolutionGraph::ConvolutionGraph(const PlanTarget& target, const ConvolutionShape& shape,
                                   Direction direction, Precision precision)
    : target_(target),
      precision_(precision),
      parts_(convolution_operation(target.cudnn(), shape, direction, type_of(precision))),
      graph_(target.cudnn(), CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  target.aim_graph(graph_);
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, parts_.back());
  graph_.finalise("making an operation graph");
}

Proposals ConvolutionGraph::proposals(cudnnBackendHeurMode_t mode) const {
  constexpr std::int64_t kMost = 64;
  Descriptor heuristics(target_.cudnn(), CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  target_.aim_heuristics(heuristics);
  const cudnnStatus_t status = heuristics.try_to_finalise();
  if (is_unsupported(status)) return {{}, status};
  target_.cudnn().check(status, "asking for engines");
  Proposals all;
  for (Descriptor& config :
       heuristics.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, kMost)) {
    const Descriptor engine =
        config.part(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    if (!keeps(precision_, notes_of(engine))) continue;
    all.candidates.push_back({name_of(config, engine), std::move(config)});
  }
  return all;
}

std::optional<PlanCandidate> ConvolutionGraph::candidate(std::string_view name) const {
  const std::optional<TurnedEngine> named = parse_name(name);
  if (!named) return std::nullopt;
  const Cudnn& cudnn = target_.cudnn();
  std::vector<Descriptor> parts;
  Descriptor& engine = parts.emplace_back(cudnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph_);
  engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, named->number);
  target_.aim_engine(engine);
  if (engine.try_to_finalise() != CUDNN_STATUS_SUCCESS) return std::nullopt;
  if (!keeps(precision_, notes_of(engine))) return std::nullopt;
  Descriptor config(cudnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  config.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  std::vector<cudnnBackendDescriptor_t> knobs;
  for (const auto& [type, value] : named->knobs) {
    Descriptor& knob = parts.emplace_back(cudnn, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
             static_cast<cudnnBackendKnobType_t>(type));
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, value);
    if (knob.try_to_finalise() != CUDNN_STATUS_SUCCESS) return std::nullopt;
    knobs.push_back(knob.get());
  }
  if (!knobs.empty()) {
    config.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
               std::span<const cudnnBackendDescriptor_t>(knobs));
  }
  if (config.try_to_finalise() != CUDNN_STATUS_SUCCESS) return std::nullopt;
  return PlanCandidate{std::string(name), std::move(config), std::move(parts)};
}

Planned ConvolutionGraph::plan(PlanCandidate candidate) const {
  Descriptor plan(target_.cudnn(), CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, candidate.config);
  target_.aim_plan(plan);
  const cudnnStatus_t status = plan.try_to_finalise();
  const bool breaks = CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_INTERNAL_ERROR;
  if (is_unsupported(status) || breaks) {
    forget_last_error();  // an engine that found no memory, say
    return {std::nullopt, status};
  }
  target_.cudnn().check(status, "making a plan with engine " + candidate.name);
  return {ConvolutionPlan(std::move(candidate), std::move(plan)), status};
}

ConvolutionPlan::ConvolutionPlan(PlanCandidate candidate, Descriptor plan)
    : candidate_(std::move(candidate)),
      plan_(std::move(plan)),
      workspace_(
          plan_.value<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64)) {}

void ConvolutionPlan::run(cudnnHandle_t handle, const ConvolutionMemory& memory) const {
  plan_.cudnn().check(try_to_run(handle, memory), "running a convolution");
}

cudnnStatus_t ConvolutionPlan::try_to_run(cudnnHandle_t handle,
                                          const ConvolutionMemory& memory) const {
  const std::array<void*, 3> places = {memory.input, memory.filter, memory.output};
  const Cudnn& cudnn = plan_.cudnn();
  Descriptor pack(cudnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, kTensorNames);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           std::span<void* const>(places));
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, memory.workspace);
  pack.finalise("naming a plan's memory");
  return cudnn.execute(handle, plan_.get(), pack.get());
}

}  // namespace strata::cuda
