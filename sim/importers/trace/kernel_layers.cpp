#include "sim/importers/trace/kernel_layers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/importers/trace/trace_event.h"

namespace strata {
namespace {

constexpr std::string_view kModule = "nn.Module: ", kStep = "ProfilerStep#",
                           kOptimizer = "Optimizer.step";

bool is_of_gpu(std::string_view category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}

bool is_launch(std::string_view category) {
  return category == "cuda_runtime" || category == "cuda_driver";
}

/// The numbers in the args of slices.
class SliceNumbers {
 public:
  explicit SliceNumbers(const Trace& trace) : trace_(trace) {}

  std::optional<std::int64_t> find(std::uint32_t slice, std::string_view key) try {
    const std::string_view args = trace_.args_of(trace_.slices[slice]);
    if (args.find(key) == std::string_view::npos) return std::nullopt;
    text_.assign(args);
    text_.reserve(args.size() + simdjson::SIMDJSON_PADDING);
    TraceEvent event;
    event.args = text_;
    const std::optional<double> number = event.number(key, parser_);
    if (!number || !(std::abs(*number) <= kLargest)) return std::nullopt;
    return static_cast<std::int64_t>(*number);
  } catch (const simdjson::simdjson_error&) {  // its args are not JSON
    return std::nullopt;
  }

 private:
  static constexpr double kLargest = 9007199254740992;  // a double counts up to here

  const Trace& trace_;
  std::string text_;
  simdjson::ondemand::parser parser_;
};

/// "Conv2d_0" of "nn.Module: Conv2d_0": a class, and which of its modules.
struct ModuleName {
  std::string_view kind;
  std::size_t number = 0;
};

std::optional<ModuleName> module_in(std::string_view name) {
  if (!name.starts_with(kModule)) return std::nullopt;
  name.remove_prefix(kModule.size());
  const std::size_t bar = name.rfind('_');
  if (bar == std::string_view::npos) return std::nullopt;
  ModuleName module{name.substr(0, bar)};
  const std::string_view digits = name.substr(bar + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), module.number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return module;
}

/// What a class of PyTorch's modules is called here; others as they are, in small letters.
std::string op_of(std::string_view kind) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kOps = {{
      {"Linear", "fc"},
      {"BatchNorm1d", "batch_norm"},
      {"BatchNorm2d", "batch_norm"},
      {"BatchNorm3d", "batch_norm"},
      {"LayerNorm", "layer_norm"},
      {"LocalResponseNorm", "lrn"},
      {"CrossEntropyLoss", "softmax_cross_entropy"},
      {"MaxPool1d", "max_pool1d"},
      {"MaxPool2d", "max_pool2d"},
      {"MaxPool3d", "max_pool3d"},
      {"AvgPool1d", "avg_pool1d"},
      {"AvgPool2d", "avg_pool2d"},
      {"AvgPool3d", "avg_pool3d"},
      {"AdaptiveAvgPool1d", "adaptive_avg_pool1d"},
      {"AdaptiveAvgPool2d", "adaptive_avg_pool2d"},
      {"AdaptiveAvgPool3d", "adaptive_avg_pool3d"},
      {"Dropout2d", "dropout"},
  }};
  for (const auto& [module, op] : kOps) {
    if (module == kind) return std::string(op);
  }
  std::string small(kind);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

/// By the number of a name in the trace, the layer that it names.
std::vector<LayerId> layers_by_name(const Trace& trace, const Graph& graph) {
  std::map<std::string, std::vector<LayerId>, std::less<>> of_op;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    of_op[std::string(name(graph[LayerId(i)].op))].push_back(LayerId(i));
  }
  std::map<std::string, std::set<std::size_t>, std::less<>> modules;
  for (const std::string& text : trace.names) {
    if (const auto module = module_in(text)) modules[op_of(module->kind)].insert(module->number);
  }
  std::vector<LayerId> layers(trace.names.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::string text = trace.names[i];
    std::ranges::replace(text, '.', '_');
    const LayerId named = graph.find(text);
    if (named.valid() && !is_input(graph[named].op)) layers[i] = named;
    const auto module = module_in(trace.names[i]);
    if (!module) continue;
    const std::string op = op_of(module->kind);
    const auto known = of_op.find(op);
    if (known == of_op.end() || known->second.size() != modules[op].size()) continue;
    if (module->number < known->second.size()) layers[i] = known->second[module->number];
  }
  return layers;
}

/// What the ranges that a slice lies in say of it.
struct Origin {
  LayerId layer;
  KernelPass pass = KernelPass::forward;
};

/// The slice of a forward op by the thread it ran on; and by a slice of autograd's.
using ByThread = std::map<std::uint32_t, std::uint32_t>;
using TiedOps = std::unordered_map<std::uint32_t, std::uint32_t>;
/// What autograd does of one forward thread, by the process and the thread's id in it: slices, with
/// their sequence numbers.
using AutogradOpsByThread = std::map<std::pair<std::string, std::int64_t>,
                                     std::vector<std::pair<std::uint32_t, std::int64_t>>>;
using AutogradOps = AutogradOpsByThread::value_type;

class KernelMatcher {
 public:
  KernelMatcher(const Trace& trace, const Graph& graph, const std::atomic<bool>* cancelled)
      : trace_(trace),
        cancelled_(cancelled),
        layers_(layers_by_name(trace, graph)),
        numbers_(trace),
        origins_(trace.slices.size()) {}

  KernelLayers run() && {
    find_steps();
    find_autograd();
    follow_ranges({});
    take_forward_ops();
    take_autograd();
    follow_ranges(tie_autograd());
    take_kernels();
    begin_steps();
    return std::move(found_);
  }

 private:
  std::string_view category(std::uint32_t slice) const {
    return trace_.names[trace_.slices[slice].category];
  }
  std::string_view name_of(std::uint32_t slice) const {
    return trace_.names[trace_.slices[slice].name];
  }

  // Where the host was in them.
  void find_steps() {
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) {
      if (!name_of(i).starts_with(kStep) || category(i) != "user_annotation") continue;
      steps_.push_back({trace_.slices[i].begin, trace_.slices[i].end});
    }
    std::ranges::sort(steps_, {}, &TraceStep::begin);
  }

  // Slices of a thread lie within one another: visit(slice, those around it, from without).
  template <class Visit>
  void for_each_nested(const Visit& visit) const {
    std::vector<std::uint32_t> around;
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) {
      throw_if_cancelled(cancelled_);
      const TraceSlice& slice = trace_.slices[i];
      const auto holds = [&](std::uint32_t outer) {
        return trace_.slices[outer].thread == slice.thread &&
               trace_.slices[outer].end > slice.begin;
      };
      while (!around.empty() && !holds(around.back())) around.pop_back();
      visit(i, around);
      around.push_back(i);
    }
  }

  // The outermost slice of autograd's around each.
  void find_autograd() {
    within_.assign(trace_.slices.size(), kNone);
    for_each_nested([&](std::uint32_t slice, const std::vector<std::uint32_t>& around) {
      const auto outer =
          std::ranges::find_if(around, [&](std::uint32_t other) { return is_of_autograd(other); });
      if (outer != around.end()) within_[slice] = *outer;
    });
  }
  bool is_recomputed(std::uint32_t slice) const { return within_[slice] != kNone; }

  // Each knows what those around it know.
  void follow_ranges(const TiedOps& forward) {
    for_each_nested([&](std::uint32_t slice, const std::vector<std::uint32_t>& around) {
      Origin& origin = origins_[slice];
      if (!around.empty() && !origin.layer.valid()) origin = origins_[around.back()];
      look_at(slice, forward, origin);
    });
  }

  void look_at(std::uint32_t slice, const TiedOps& forward, Origin& origin) {
    const LayerId named = layers_[trace_.slices[slice].name];
    if (named.valid()) origin.layer = named;
    if (named.valid() && is_recomputed(slice)) origin.pass = KernelPass::recomputation;
    if (name_of(slice).starts_with(kOptimizer)) origin.pass = KernelPass::update;
    const auto op = forward.find(slice);
    if (op == forward.end()) return;
    origin = origins_[op->second];
    origin.pass = KernelPass::backward;
  }

  bool is_of_autograd(std::uint32_t slice) const {
    return category(slice) == "cpu_op" && name_of(slice).find("Backward") != std::string_view::npos;
  }
  // What runs a part of the network anew, and has the number of that part's last op.
  bool runs_anew(std::uint32_t slice) const {
    return name_of(slice).find("CheckpointFunction") != std::string_view::npos;
  }

  // Of each sequence number of a thread the op that began last: slices are in that order.
  void take_forward_ops() {
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) {
      throw_if_cancelled(cancelled_);
      if (category(i) != "cpu_op" || is_of_autograd(i) || !origins_[i].layer.valid()) continue;
      const auto number = numbers_.find(i, "Sequence number");
      if (!number || *number < 0) continue;
      if (is_recomputed(i)) {
        recomputed_[{within_[i], *number}] = i;
      } else {
        forward_[*number][trace_.slices[i].thread] = i;
      }
    }
  }

  void take_autograd() {
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) {
      if (!is_of_autograd(i) || runs_anew(i)) continue;
      const auto number = numbers_.find(i, "Sequence number");
      if (!number) continue;
      const auto anew = recomputed_.find({within_[i], *number});
      if (anew != recomputed_.end() && trace_.slices[anew->second].end <= trace_.slices[i].begin) {
        tied_[i] = anew->second;
        continue;
      }
      if (!forward_.contains(*number)) continue;
      const std::int64_t thread = numbers_.find(i, "Fwd thread id").value_or(0);
      autograd_[{process_of(i), thread}].emplace_back(i, *number);
    }
  }

  // By the slice of autograd's the forward op.
  TiedOps tie_autograd() const {
    TiedOps tied = tied_;
    std::set<std::uint32_t> taken;
    for (const AutogradOps* const ops : most_first()) {
      const std::optional<std::uint32_t> thread = thread_of(*ops, taken);
      if (thread) taken.insert(*thread);
      for (const auto& [slice, number] : ops->second) {
        const ByThread& threads = forward_.at(number);
        const auto same = thread ? threads.find(*thread) : threads.end();
        if (same != threads.end()) {
          tied[slice] = same->second;
        } else if (threads.size() == 1 && is_in(ops->first.first, threads.begin()->first)) {
          tied[slice] = threads.begin()->second;
        }
      }
    }
    return tied;
  }

  std::vector<const AutogradOps*> most_first() const {
    std::vector<const AutogradOps*> order;
    order.reserve(autograd_.size());
    for (const AutogradOps& ops : autograd_) order.push_back(&ops);
    std::ranges::stable_sort(order, std::greater{},
                             [](const AutogradOps* ops) { return ops->second.size(); });
    return order;
  }

  // The thread of the same process that has the most of the numbers, and that is no other id's; of
  // two that have as many the one whose first op began first, as ids are given in that order.
  std::optional<std::uint32_t> thread_of(const AutogradOps& ops,
                                         const std::set<std::uint32_t>& taken) const {
    std::map<std::uint32_t, std::pair<std::size_t, Seconds>> found;  // how many, from when on
    for (const auto& [slice, number] : ops.second) {
      for (const auto& [thread, op] : forward_.at(number)) {
        if (taken.contains(thread) || !is_in(ops.first.first, thread)) continue;
        const Seconds begin = trace_.slices[op].begin;
        auto& [count, first] = found.try_emplace(thread, std::size_t{0}, begin).first->second;
        ++count;
        first = std::min(first, begin);
      }
    }
    const auto better = [](const auto& a, const auto& b) {
      return std::pair(b.second.first, a.second.second) <
             std::pair(a.second.first, b.second.second);
    };
    const auto best = std::ranges::min_element(found, better);
    return best == found.end() ? std::nullopt : std::optional(best->first);
  }

  const std::string& process_of(std::uint32_t slice) const {
    return trace_.threads[trace_.slices[slice].thread].process_id;
  }
  bool is_in(const std::string& process, std::uint32_t thread) const {
    return trace_.threads[thread].process_id == process;
  }

  // Nothing where calls of several processes have the correlation: kernels do not say whose they
  // are.
  std::unordered_map<std::int64_t, std::optional<std::uint32_t>> launches() {
    std::unordered_map<std::int64_t, std::optional<std::uint32_t>> launches;
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) {
      if (!is_launch(category(i))) continue;
      const auto correlation = numbers_.find(i, "correlation");
      if (!correlation) continue;
      const auto [known, is_new] = launches.try_emplace(*correlation, i);
      if (is_new || !known->second) continue;
      const bool same = process_of(*known->second) == process_of(i);
      known->second = same ? std::optional(i) : std::nullopt;
    }
    return launches;
  }

  std::uint32_t step_at(Seconds at) const {
    const auto after = std::ranges::upper_bound(steps_, at, {}, &TraceStep::begin);
    const bool within = after != steps_.begin() && at < std::prev(after)->end;
    const auto place = within ? std::prev(after) - steps_.begin() : std::ssize(steps_);
    return static_cast<std::uint32_t>(place);
  }

  void take_kernels() {
    const auto by_correlation = launches();
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) {
      throw_if_cancelled(cancelled_);
      if (!is_of_gpu(category(i))) continue;
      LayerKernel kernel{i, number_of(i, "device"), number_of(i, "stream"), LayerId()};
      kernel.step = static_cast<std::uint32_t>(steps_.size());
      const auto correlation = numbers_.find(i, "correlation");
      const auto launch = correlation ? by_correlation.find(*correlation) : by_correlation.end();
      if (launch != by_correlation.end() && launch->second) {
        const std::uint32_t call = *launch->second;
        kernel.layer = origins_[call].layer;
        kernel.pass = origins_[call].pass;
        kernel.step = step_at(trace_.slices[call].begin);
      }
      found_.kernels.push_back(kernel);
    }
    std::ranges::stable_sort(found_.kernels, {}, [&](const LayerKernel& kernel) {
      return trace_.slices[kernel.slice].begin;
    });
  }

  std::uint32_t number_of(std::uint32_t slice, std::string_view key) {
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(numbers_.find(slice, key).value_or(0), 0, kMost));
  }

  // When the kernels of a step ran, and how long each GPU was busy with them until when.
  struct Ran {
    std::optional<TraceStep> step;
    std::map<std::uint32_t, std::pair<Seconds, Seconds>> busy;
  };

  // From when their kernels begin; steps without any are left out. Where none has any, all of the
  // trace is one.
  void begin_steps() {
    std::vector<Ran> ran(steps_.size() + 1);
    for (const LayerKernel& kernel : found_.kernels) widen(ran[kernel.step], kernel);
    std::vector<std::uint32_t> place(ran.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      place[i] = static_cast<std::uint32_t>(found_.steps.size());
      if (!ran[i].step) continue;
      found_.steps.push_back(step_of(ran[i]));
      const bool next_ran = i + 1 < steps_.size() && ran[i + 1].step;
      Seconds& end = found_.steps.back().end;
      end = next_ran ? ran[i + 1].step->begin : std::max(end, steps_[i].end);
    }
    place.back() = static_cast<std::uint32_t>(found_.steps.size());
    found_.names_steps = !found_.steps.empty();
    if (!found_.names_steps) found_.steps.push_back(step_of(ran.back()));
    for (LayerKernel& kernel : found_.kernels) kernel.step = place[kernel.step];
  }

  // Kernels come in the order of their begin.
  void widen(Ran& ran, const LayerKernel& kernel) const {
    const TraceSlice& slice = trace_.slices[kernel.slice];
    if (!ran.step) ran.step = TraceStep{slice.begin, slice.end};
    ran.step->end = std::max(ran.step->end, slice.end);
    auto& [busy, until] = ran.busy.try_emplace(kernel.device, Seconds{}, slice.begin).first->second;
    busy += std::max(Seconds{}, slice.end - std::max(slice.begin, until));
    until = std::max(until, slice.end);
  }

  static TraceStep step_of(const Ran& ran) {
    TraceStep step = ran.step.value_or(TraceStep{});
    for (const auto& [device, busy] : ran.busy) step.busy = std::max(step.busy, busy.first);
    return step;
  }

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  const Trace& trace_;
  const std::atomic<bool>* cancelled_;
  const std::vector<LayerId> layers_;  // by name
  SliceNumbers numbers_;
  std::vector<Origin> origins_;                         // by slice
  std::vector<TraceStep> steps_;                        // of the host
  std::vector<std::uint32_t> within_;                   // by slice: of autograd's, or kNone
  std::unordered_map<std::int64_t, ByThread> forward_;  // by sequence number
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> recomputed_;  // and by within_
  TiedOps tied_;                                                                // to those
  AutogradOpsByThread autograd_;
  KernelLayers found_;
};

}  // namespace

double KernelLayers::known_share(const Trace& trace) const {
  Seconds all, known;
  for (const LayerKernel& kernel : kernels) {
    const TraceSlice& slice = trace.slices[kernel.slice];
    const bool is_known = kernel.layer.valid() || kernel.pass == KernelPass::update;
    all += slice.end - slice.begin;
    if (is_known) known += slice.end - slice.begin;
  }
  return all > Seconds{} ? known / all : 0;
}

bool has_kernels(const Trace& trace) {
  return std::ranges::any_of(trace.slices, [&](const TraceSlice& slice) {
    return trace.names[slice.category] == "kernel";
  });
}

KernelLayers match_kernels(const Trace& trace, const Graph& graph,
                           const std::atomic<bool>* cancelled) {
  return KernelMatcher(trace, graph, cancelled).run();
}

}  // namespace strata
