#include "exec/cuda/products/tuned_plan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "exec/cuda/device/check.h"
#include "exec/cuda/products/engine_check.h"
#include "exec/cuda/products/sample_products.h"
#include "exec/cuda/streams/gate.h"
#include "exec/cuda/tensor/noise.h"

namespace strata::cuda {
namespace {

// How many are timed, and how many of the heuristics' own choice are enough to ask for no more.
constexpr std::size_t kTimed = 10, kEnough = 3;
constexpr int kWarmUps = 3, kRounds = 7, kMostRounds = 3 * kRounds;

/// A GPU's memory that there may be none of.
class MemoryToTuneIn {
 public:
  MemoryToTuneIn(int gpu, std::int64_t bytes) : gpu_(gpu), data_(allocate(gpu, bytes)) {}
  ~MemoryToTuneIn() {
    if (data_ != nullptr) release(gpu_, data_);
  }
  MemoryToTuneIn(const MemoryToTuneIn&) = delete;
  MemoryToTuneIn& operator=(const MemoryToTuneIn&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  int gpu_;
  void* data_;
};

/// A convolution in one direction, and how show() names it.
struct NamedProduct {
  const ConvolutionShape& shape;
  Direction direction;
  std::string name;
};

struct NamedPlan {
  std::string name;
  ConvolutionPlan plan;
};

/// Of all that stands in the way of a plan, the first.
class Refusal {
 public:
  explicit Refusal(const Cudnn& cudnn) : cudnn_(cudnn) {}

  void note(cudnnStatus_t status) { note(cudnn_.error_string(status)); }
  void note(const std::string& engine, cudnnStatus_t status) {
    note(engine, cudnn_.error_string(status));
  }
  void note(const std::string& engine, std::string_view what) {
    note(fmt::format("{} (engine {})", what, engine));
  }
  /// Where nothing was noted, there was nobody to refuse.
  const std::string& text() const { return text_.empty() ? kNobody : text_; }

 private:
  void note(std::string text) {
    if (text_.empty()) text_ = std::move(text);
  }

  static inline const std::string kNobody = "no engine is proposed";
  const Cudnn& cudnn_;
  std::string text_;
};

/// Nothing where it is refused, breaks or asks for too much.
std::optional<NamedPlan> plan_of(const ConvolutionGraph& graph, PlanCandidate candidate,
                                 Refusal& refusal) {
  std::string name = candidate.name;
  Planned planned = graph.plan(std::move(candidate));
  if (!planned.plan) {
    refusal.note(name, planned.status);
    return std::nullopt;
  }
  if (planned.plan->workspace() > kMostWorkspace) {
    refusal.note(name, fmt::format("a workspace of {} bytes", planned.plan->workspace()));
    return std::nullopt;
  }
  return NamedPlan{std::move(name), std::move(*planned.plan)};
}

/// How many plans are wanted, at most, and how many are enough to ask for no fallback.
struct PlanLimits {
  std::size_t most, enough;
};

/// The first that are accepted, by the heuristics' choice; where those are hardly any, others that
/// might do.
std::vector<NamedPlan> first_plans(const ConvolutionGraph& graph, Refusal& refusal,
                                   PlanLimits limits,
                                   const std::function<bool(const NamedPlan&)>& accept) {
  std::vector<NamedPlan> plans;
  std::set<std::string> seen;
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (plans.size() >= limits.enough) break;
    Proposals proposals = graph.proposals(mode);
    if (is_unsupported(proposals.status)) refusal.note(proposals.status);
    for (PlanCandidate& candidate : proposals.candidates) {
      if (plans.size() == limits.most) break;
      if (!seen.insert(candidate.name).second) continue;
      auto plan = plan_of(graph, std::move(candidate), refusal);
      if (plan && accept(*plan)) plans.push_back(std::move(*plan));
    }
  }
  return plans;
}

class Tuning {
 public:
  Tuning(Seat& seat, const NamedProduct& product, const ConvolutionMemory& memory, Refusal& refusal)
      : seat_(seat),
        library_(cudnn_of(seat)),
        product_(product),
        memory_(memory),
        refusal_(refusal) {
    if (library_.search().checked) check_.emplace(seat, product.shape, product.direction, memory);
  }

  // Nobody takes memory away that the stream still uses, nor the gate that it waits at.
  ~Tuning() {
    gate_.open();
    try {
      seat_.stream().finish();
    } catch (...) {  // said by who waited for the work
    }
  }
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  /// Leaves the plans that run, in rounds of one run each, so that whatever drifts with time
  /// drifts for all; the fastest comes first. Whether enough rounds counted to say so.
  bool sort(std::vector<NamedPlan>& plans) {
    std::erase_if(plans, [&](const NamedPlan& one) { return !runs(one, kWarmUps); });
    if (plans.size() < 2) return true;
    std::vector<Timed> timed;
    timed.reserve(plans.size());
    for (NamedPlan& plan : plans) timed.emplace_back(seat_.gpu(), std::move(plan));
    int rounds = 0;
    for (int tried = 0; rounds < kRounds && tried < kMostRounds; ++tried) rounds += time(timed);
    for (Timed& one : timed) std::sort(one.seconds.begin(), one.seconds.end());
    std::vector<std::size_t> order(timed.size());
    std::iota(order.begin(), order.end(), 0);
    const auto median = [&](std::size_t i) {
      return timed[i].seconds[timed[i].seconds.size() / 2];
    };
    if (rounds > 0) {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return median(a) < median(b); });
    }
    plans.clear();
    for (std::size_t i : order) plans.push_back(std::move(timed[i].plan));
    return rounds == kRounds;
  }

  // An engine that can't be run is left to others, as is one whose result is wrong; any other
  // status is a mistake, this program's or the machine's, that another engine would only hide.
  bool runs(const NamedPlan& one, int times) {
    if (check_) check_->spoil();
    for (int run = 0; run < times; ++run) {
      const cudnnStatus_t status = one.plan.try_to_run(library_.handle(), memory_);
      if (is_unsupported(status) || failed_to_run(status)) {
        refusal_.note(one.name, status);
        forget_last_error();
        return false;
      }
      library_.cudnn().check(status, "trying engine " + one.name);
      // cuDNN calls it a success where CUDA refuses to launch an engine's kernel, as it does on a
      // part of a GPU that is smaller than the kernel's clusters want.
      if (const std::string refused = take_last_error(); !refused.empty()) {
        refusal_.note(one.name, refused);
        return false;
      }
    }
    return !check_ || is_right(one);
  }

 private:
  bool is_right(const NamedPlan& one) {
    const double error = check_->error();
    if (error <= allowed_error(seat_.precision())) return true;
    const std::string wrong = fmt::format("a result that is off by {:.1e}", error);
    refusal_.note(one.name, wrong);
    if (library_.search().progress) {
      std::cerr << fmt::format("cuDNN: {} (engine {}) for {}\n", wrong, one.name, product_.name);
    }
    return false;
  }

  struct Timed {
    Timed(int gpu, NamedPlan of)
        : plan(std::move(of)), start(gpu, EventKind::time), end(gpu, EventKind::time) {}
    NamedPlan plan;
    Event start, end;
    std::vector<double> seconds;
  };

  // The whole round is in the queue before it begins: else a short kernel's time would be what the
  // host takes to ask for it. A round that was not held does not count.
  bool time(std::vector<Timed>& timed) {
    gate_.close(seat_.stream());
    for (Timed& one : timed) {
      one.start.record(seat_.stream());
      one.plan.plan.run(library_.handle(), memory_);
      one.end.record(seat_.stream());
    }
    gate_.open();
    seat_.stream().finish();
    if (gate_.gave_up()) return false;
    for (Timed& one : timed) one.seconds.push_back(one.end.since(one.start).value);
    return true;
  }

  Seat& seat_;
  const CudnnSeat& library_;
  const NamedProduct& product_;
  ConvolutionMemory memory_;
  Refusal& refusal_;
  std::optional<EngineCheck> check_;
  Gate gate_;
};

/// Tensors and a workspace full of noise, as memory may be that others worked in.
class NoiseTensors {
 public:
  NoiseTensors(Seat& seat, const ConvolutionShape& shape, std::int64_t workspace)
      : bytes_(tensor_bytes(shape, seat.type())),
        memory_(seat.gpu(), bytes_[0] + bytes_[1] + bytes_[2] + workspace) {
    if (!has_room()) return;
    const std::int64_t bytes = bytes_[0] + bytes_[1] + bytes_[2] + workspace;
    fill_with_noise(memory_.data(), bytes / size_of(seat.type()), seat.type(), seat.stream());
  }

  bool has_room() const { return memory_.data() != nullptr; }
  ConvolutionMemory lent() const { return convolution_memory(memory_.data(), bytes_); }

 private:
  TensorBytes bytes_;
  MemoryToTuneIn memory_;
};

/// What was chosen, and whether that is good for the next time too.
struct Chosen {
  std::optional<NamedPlan> plan;
  bool lasting = false;
};

/// The fastest. The heuristics' first, and not for good, where nobody can say which that is: there
/// is no room for the tensors, or too few rounds were held.
Chosen fastest_plan(Seat& seat, const NamedProduct& product, const ConvolutionGraph& graph,
                    Refusal& refusal) {
  const auto any = [](const NamedPlan&) { return true; };
  std::vector<NamedPlan> plans = first_plans(graph, refusal, {kTimed, kEnough}, any);
  if (plans.empty()) return {};
  std::int64_t workspace = 0;
  for (const NamedPlan& one : plans) workspace = std::max(workspace, one.plan.workspace());
  const NoiseTensors tensors(seat, product.shape, workspace);
  const bool sorted =
      tensors.has_room() && Tuning(seat, product, tensors.lent(), refusal).sort(plans);
  if (plans.empty()) return {};
  return {std::move(plans.front()), sorted};
}

/// The first that runs, which is not for good where there is no room to try it.
Chosen first_plan(Seat& seat, const NamedProduct& product, const ConvolutionGraph& graph,
                  Refusal& refusal) {
  bool tried = true;
  const auto runs = [&](const NamedPlan& one) {
    const NoiseTensors tensors(seat, product.shape, one.plan.workspace());
    tried = tensors.has_room();
    return !tried || Tuning(seat, product, tensors.lent(), refusal).runs(one, 1);
  };
  std::vector<NamedPlan> plans = first_plans(graph, refusal, {1, 1}, runs);
  if (plans.empty()) return {};
  return {std::move(plans.front()), tried};
}

/// Nothing where the choice is of no use: another's library may have made it, or nobody.
std::optional<ConvolutionPlan> known_plan(const ConvolutionGraph& graph, const std::string& name) {
  auto candidate = graph.candidate(name);
  if (!candidate) return std::nullopt;
  auto plan = graph.plan(std::move(*candidate)).plan;
  if (plan && plan->workspace() > kMostWorkspace) return std::nullopt;
  return plan;
}

/// As was chosen before: the fastest, else where any will do the first that ran.
std::optional<ConvolutionPlan> plan_chosen_before(CudnnSeat& library, const ConvolutionGraph& graph,
                                                  const std::string& fastest,
                                                  const std::string& first) {
  for (const std::string& key : {fastest, first}) {
    if (library.search().timed && key == first) continue;
    const std::string known = library.choices().find(key);
    if (known.empty()) continue;
    if (auto plan = known_plan(graph, known)) return plan;
  }
  return std::nullopt;
}

/// As was chosen before, or now; nothing where no engine is left.
std::optional<ConvolutionPlan> chosen_plan(Seat& seat, const NamedProduct& product,
                                           const ConvolutionGraph& graph, Refusal& refusal) {
  CudnnSeat& library = cudnn_of(seat);
  // Earlier versions chose engines that nobody had checked.
  const std::string fastest = product.name + " checked on " + library.title(),
                    first = fastest + ", untimed";
  if (auto plan = plan_chosen_before(library, graph, fastest, first)) return plan;
  const bool timed = library.search().timed;
  // One write, for programs that run at once may have the same stderr.
  if (library.search().progress) {
    std::cerr << fmt::format("cuDNN: {} engine for {}\n", timed ? "the fastest" : "an",
                             product.name);
  }
  Chosen chosen = timed ? fastest_plan(seat, product, graph, refusal)
                        : first_plan(seat, product, graph, refusal);
  if (!chosen.plan) return std::nullopt;
  if (chosen.lasting) library.choices().add(timed ? fastest : first, chosen.plan->name);
  return std::move(chosen.plan->plan);
}

}  // namespace

std::string show(const ConvolutionShape& shape, Direction direction, Precision precision) {
  constexpr std::array kDirections = {"forward", "data", "weights"};
  constexpr std::array kPrecisions = {"fp32", "tf32", "bf16"};
  std::string text = fmt::format("{} {} n{} c{}-{} g{}", kDirections[static_cast<int>(direction)],
                                 kPrecisions[static_cast<int>(precision)], shape.samples,
                                 shape.in_channels, shape.out_channels, shape.groups.count);
  for (const ConvolutionAxis& axis : shape.axes) {
    text += fmt::format(" {}{}-{} k{} s{} d{} p{},{}", name(axis.dim), axis.input, axis.output,
                        axis.kernel, axis.stride, axis.dilation, axis.pad_begin, axis.pad_end);
  }
  return text;
}

TunedPlan tuned_plan(Seat& seat, const ConvolutionShape& shape, Direction direction) {
  use_gpu(seat.gpu());
  CudnnSeat& library = cudnn_of(seat);
  const NamedProduct product{shape, direction, show(shape, direction, seat.precision())};
  KeptPlan& kept = library.plans()[product.name];
  if (auto plan = kept.plan.lock()) return {std::move(plan), ""};
  if (!kept.refusal.empty()) return {nullptr, kept.refusal};
  const ConvolutionGraph graph(library.target(), shape, direction, seat.precision());
  Refusal refusal(library.cudnn());
  auto plan = chosen_plan(seat, product, graph, refusal);
  if (!plan) return {nullptr, kept.refusal = refusal.text() + " for " + product.name};
  auto shared = std::make_shared<const ConvolutionPlan>(std::move(*plan));
  kept.plan = shared;
  return {std::move(shared), ""};
}

}  // namespace strata::cuda
