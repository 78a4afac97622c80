#include "sim/strategy/schedule.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"

namespace strata {
namespace {

constexpr std::array<std::pair<std::string_view, ScheduleKind>, 5> kKinds = {{
    {"gpipe", ScheduleKind::gpipe},
    {"1f1b", ScheduleKind::one_f_one_b},
    {"interleaved", ScheduleKind::interleaved},
    {"zb-h1", ScheduleKind::zb_h1},
    {"zb-v", ScheduleKind::zb_v},
}};

std::size_t chunks_per_stage(const Pipeline& pipeline) {
  return pipeline.chunks() / pipeline.stages;
}

bool lies_in_turn(const Pipeline& pipeline) {
  for (std::size_t k = 0; k < pipeline.chunks(); ++k) {
    if (pipeline.stage_of[k] != k % pipeline.stages) return false;
  }
  return pipeline.chunks() % pipeline.stages == 0;
}

bool lies_in_a_v(const Pipeline& pipeline) {
  const std::size_t p = pipeline.stages;
  if (pipeline.chunks() != 2 * p) return false;
  for (std::size_t k = 0; k < 2 * p; ++k) {
    if (pipeline.stage_of[k] != (k < p ? k : 2 * p - 1 - k)) return false;
  }
  return true;
}

/// Of one stage, what comes next of each chunk.
class Order {
 public:
  explicit Order(std::uint32_t rounds) : rounds_(rounds) {}

  /// The chunk's next round, if there is one left.
  void add(std::uint32_t chunk, Pass pass) {
    const std::uint32_t round = next_[{chunk, pass}]++;
    if (round < rounds_) all_.push_back({chunk, round, pass});
  }
  std::uint32_t count(std::uint32_t chunk, Pass pass) { return next_[{chunk, pass}]; }
  std::vector<Instance> all() && { return std::move(all_); }

 private:
  std::uint32_t rounds_;
  std::map<std::pair<std::uint32_t, Pass>, std::uint32_t> next_;
  std::vector<Instance> all_;
};

// All forward passes, then all backward ones, the last chunk's first.
std::vector<Instance> gpipe(const Pipeline& pipeline, std::uint32_t stage, std::uint32_t rounds) {
  std::vector<std::uint32_t> chunks;
  for (std::uint32_t k = 0; k < pipeline.chunks(); ++k) {
    if (pipeline.stage_of[k] == stage) chunks.push_back(k);
  }
  std::vector<Instance> order;
  order.reserve(2 * chunks.size() * rounds);
  for (std::uint32_t chunk : chunks) {
    for (std::uint32_t r = 0; r < rounds; ++r) order.push_back({chunk, r, Pass::forward});
  }
  std::reverse(chunks.begin(), chunks.end());
  for (std::uint32_t chunk : chunks) {
    for (std::uint32_t r = 0; r < rounds; ++r) order.push_back({chunk, r, Pass::backward});
  }
  return order;
}

// As many forward passes as there are stages from this one on, then one of each by turns. Those
// that compute side by side end together, and other stages go on with both: a forward pass needs
// one more for each stage after this one to be there in time.
std::vector<Instance> one_f_one_b(std::uint32_t stages, std::uint32_t stage, std::uint32_t rounds,
                                  PassOverlap overlap) {
  Order order(rounds);
  const std::uint32_t ahead = (overlap == PassOverlap::none ? 1 : 2) * (stages - stage - 1);
  for (std::uint32_t r = 0; r < ahead; ++r) order.add(stage, Pass::forward);
  for (std::uint32_t r = 0; r < rounds; ++r) {
    order.add(stage, Pass::forward);
    order.add(stage, Pass::backward);
  }
  return std::move(order).all();
}

// The same, but that the gradients of parameters lag behind by as many rounds as there are stages
// before this one.
std::vector<Instance> zb_h1(std::uint32_t stages, std::uint32_t stage, std::uint32_t rounds) {
  Order order(rounds);
  for (std::uint32_t r = 0; r + stage + 1 < stages; ++r) order.add(stage, Pass::forward);
  for (std::uint32_t r = 0; r < rounds; ++r) {
    order.add(stage, Pass::forward);
    order.add(stage, Pass::backward_inputs);
    if (r >= stage) order.add(stage, Pass::backward_weights);
  }
  for (std::uint32_t r = 0; r < std::min(stage, rounds); ++r) {
    order.add(stage, Pass::backward_weights);
  }
  return std::move(order).all();
}

// Rounds in groups: each chunk of a stage takes those of a group before the next chunk does.
class Interleaved {
 public:
  Interleaved(const Pipeline& pipeline, std::uint32_t rounds)
      : stages_(static_cast<std::uint32_t>(pipeline.stages)),
        per_stage_(static_cast<std::uint32_t>(chunks_per_stage(pipeline))),
        rounds_(rounds),
        group_(rounds / std::max(1U, rounds / stages_)) {
    if (rounds % group_ == 0) return;
    throw InputError(
        fmt::format("schedule interleaved: {} rounds do not divide into groups of about {}; "
                    "allowed: a multiple of the {} stages",
                    rounds, stages_, stages_));
  }

  std::vector<Instance> of(std::uint32_t stage) const {
    const std::uint32_t total = rounds_ * per_stage_;
    const std::uint32_t ahead =
        std::min(total, 2 * (stages_ - stage - 1) + (per_stage_ - 1) * group_);
    std::vector<Instance> order;
    order.reserve(std::size_t{2} * total);
    for (std::uint32_t k = 0; k < total + ahead; ++k) {
      if (k < total) order.push_back(instance(k, stage, Pass::forward));
      if (k >= ahead) order.push_back(instance(k - ahead, stage, Pass::backward));
    }
    return order;
  }

 private:
  Instance instance(std::uint32_t k, std::uint32_t stage, Pass pass) const {
    const std::uint32_t in_turn = k / group_ % per_stage_;
    const std::uint32_t nth = pass == Pass::forward ? in_turn : per_stage_ - 1 - in_turn;
    return {nth * stages_ + stage, k / (group_ * per_stage_) * group_ + k % group_, pass};
  }

  std::uint32_t stages_, per_stage_, rounds_, group_;
};

// Down one arm of the V and up the other. A stage that gets far ahead on its first chunk takes the
// second as soon as it can; what no other stage waits for fills the end.
std::vector<Instance> zb_v(std::uint32_t stages, std::uint32_t stage, std::uint32_t rounds) {
  const std::uint32_t down = stage, up = 2 * stages - 1 - stage;
  const std::uint32_t all =
      std::max(rounds, 2 * stages - 1);  // those that are too many are left out
  Order order(rounds);
  const auto whole_backward = [&order](std::uint32_t chunk) {
    order.add(chunk, Pass::backward_inputs);
    order.add(chunk, Pass::backward_weights);
  };
  for (std::uint32_t k = 0; k < 2 * (stages - stage) - 1; ++k) order.add(down, Pass::forward);
  for (std::uint32_t k = 0; k < stage; ++k) {
    order.add(up, Pass::forward);
    order.add(down, Pass::forward);
  }
  for (std::uint32_t k = 0; k < stages - stage; ++k) {
    order.add(up, Pass::forward);
    whole_backward(up);
  }
  while (order.count(up, Pass::forward) < all) {
    if (order.count(down, Pass::forward) < all) order.add(down, Pass::forward);
    whole_backward(down);
    order.add(up, Pass::forward);
    whole_backward(up);
  }
  for (std::uint32_t k = 0; k < stage; ++k) {
    order.add(down, Pass::backward_inputs);
    order.add(up, Pass::backward_inputs);
  }
  for (std::uint32_t k = 0; k < stages - stage; ++k) whole_backward(down);
  for (const std::uint32_t chunk : {up, down}) {
    while (order.count(chunk, Pass::backward_weights) < all) {
      order.add(chunk, Pass::backward_weights);
    }
  }
  return std::move(order).all();
}

[[noreturn]] void refuse(ScheduleKind kind, std::string_view what) {
  throw InputError(fmt::format("schedule {}: {}", name(kind), what));
}

void check_suits(ScheduleKind kind, const Pipeline& pipeline) {
  const std::string chunks = pipeline.stages == 1 ? std::string("the strategy has one stage")
                                                  : fmt::format("{} chunks of layers on {} stages",
                                                                pipeline.chunks(), pipeline.stages);
  switch (kind) {
    case ScheduleKind::gpipe:
      return;
    case ScheduleKind::one_f_one_b:
    case ScheduleKind::zb_h1:
      if (pipeline.chunks() == pipeline.stages && lies_in_turn(pipeline)) return;
      return refuse(kind, chunks + "; allowed: one for each (without vp)");
    case ScheduleKind::interleaved:
      if (lies_in_turn(pipeline) && chunks_per_stage(pipeline) > 1) return;
      return refuse(
          kind,
          chunks + "; allowed: several and equally many for each, by turns (hybrid:pp=P,vp=V)");
    case ScheduleKind::zb_v:
      if (lies_in_a_v(pipeline)) return;
      return refuse(kind, chunks +
                              "; allowed: two for each, the second ones in reverse "
                              "(hybrid:pp=P,vp=v)");
  }
}

}  // namespace

std::string_view name(ScheduleKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].first;
}

std::string schedule_names() {
  std::string names;
  for (const auto& [name, kind] : kKinds) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

std::optional<ScheduleKind> schedule_kind(std::string_view name) {
  const auto at = std::find_if(kKinds.begin(), kKinds.end(),
                               [&](const auto& known) { return known.first == name; });
  return at == kKinds.end() ? std::nullopt : std::optional(at->second);
}

std::string text(const Instance& instance) {
  return fmt::format("{}{}{}", instance.chunk,
                     kPassLetters[static_cast<std::size_t>(instance.pass)], instance.round);
}

Schedule schedule(ScheduleKind kind, const Pipeline& pipeline, std::uint32_t rounds,
                  PassOverlap overlap) {
  check_suits(kind, pipeline);
  const auto stages = static_cast<std::uint32_t>(pipeline.stages);
  Schedule result;
  result.reserve(stages);
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    switch (kind) {
      case ScheduleKind::gpipe:
        result.push_back(gpipe(pipeline, stage, rounds));
        break;
      case ScheduleKind::one_f_one_b:
        result.push_back(one_f_one_b(stages, stage, rounds, overlap));
        break;
      case ScheduleKind::interleaved:
        result.push_back(Interleaved(pipeline, rounds).of(stage));
        break;
      case ScheduleKind::zb_h1:
        result.push_back(zb_h1(stages, stage, rounds));
        break;
      case ScheduleKind::zb_v:
        result.push_back(zb_v(stages, stage, rounds));
        break;
    }
  }
  return result;
}

ScheduleKind usual_schedule(const Pipeline& pipeline) {
  if (pipeline.chunks() == pipeline.stages) return ScheduleKind::one_f_one_b;
  if (lies_in_turn(pipeline)) return ScheduleKind::interleaved;
  return lies_in_a_v(pipeline) ? ScheduleKind::zb_v : ScheduleKind::gpipe;
}

namespace {

std::string of_rounds(std::string_view what, std::uint32_t rounds) {
  return fmt::format("{}; the step has {} round{} (`micro_batch`)", what, rounds,
                     rounds == 1 ? "" : "s");
}

}  // namespace

void check_schedule(const Schedule& schedule, const Pipeline& pipeline, std::uint32_t rounds) {
  if (schedule.size() != pipeline.stages) {
    throw InputError(fmt::format("its stages are {}, those of the strategy {}", schedule.size(),
                                 pipeline.stages));
  }
  for (std::size_t stage = 0; stage < schedule.size(); ++stage) {
    std::set<std::tuple<std::uint32_t, std::uint32_t, Pass>> seen;
    const auto fail = [&](const Instance& instance, std::string_view what) {
      throw InputError(fmt::format("stage {}: {} {}", stage, text(instance), what));
    };
    for (const Instance& instance : schedule[stage]) {
      if (instance.chunk >= pipeline.chunks() || pipeline.stage_of[instance.chunk] != stage) {
        fail(instance, "is of a chunk that lies elsewhere");
      }
      if (instance.round >= rounds)
        fail(instance, fmt::format("is of no round; the step has {} (`micro_batch`)", rounds));
      if (!seen.emplace(instance.chunk, instance.round, instance.pass).second) {
        fail(instance, "stands twice");
      }
    }
    for (std::uint32_t chunk = 0; chunk < pipeline.chunks(); ++chunk) {
      if (pipeline.stage_of[chunk] != stage) continue;
      for (std::uint32_t round = 0; round < rounds; ++round) {
        const auto has = [&](Pass pass) { return seen.contains({chunk, round, pass}); };
        if (!has(Pass::forward)) {
          fail({chunk, round, Pass::forward}, of_rounds("is missing", rounds));
        }
        const bool whole = has(Pass::backward);
        const bool none = !whole && !has(Pass::backward_inputs) && !has(Pass::backward_weights);
        if (none) fail({chunk, round, Pass::backward}, of_rounds("is missing", rounds));
        for (const Pass part : {Pass::backward_inputs, Pass::backward_weights}) {
          if (has(part) != whole) continue;
          fail({chunk, round, part},
               whole ? "stands beside the whole backward pass" : "is missing");
        }
      }
    }
  }
}

namespace {

/// Which instances are done, as stages take theirs by turns.
class Turns {
 public:
  Turns(const Schedule& schedule, const Pipeline& pipeline)
      : schedule_(schedule),
        pipeline_(pipeline),
        next_(schedule.size()),
        feeds_(pipeline.chunks()) {
    for (std::uint32_t chunk = 0; chunk < pipeline.chunks(); ++chunk) {
      for (std::uint32_t before : pipeline.feeds_on[chunk]) feeds_[before].push_back(chunk);
    }
    for (const auto& stage : schedule) {
      total_ += stage.size();
      for (const Instance& instance : stage) rounds_ = std::max(rounds_, instance.round + 1);
    }
    for (auto& passes : done_) passes.resize(pipeline.chunks() * rounds_);
  }

  std::vector<Instance> all() && {
    std::vector<Instance> order;
    order.reserve(total_);
    while (order.size() < total_) {
      const std::size_t before = order.size();
      for (std::size_t stage = 0; stage < schedule_.size(); ++stage) {
        if (next_[stage] == schedule_[stage].size()) continue;
        const Instance& instance = schedule_[stage][next_[stage]];
        if (missing(instance)) continue;
        order.push_back(instance);
        ++next_[stage];
      }
      if (order.size() == before) refuse();
      for (std::size_t i = before; i < order.size(); ++i) mark(order[i]);
    }
    return order;
  }

 private:
  std::size_t at(std::uint32_t chunk, std::uint32_t round) const {
    return std::size_t{chunk} * rounds_ + round;
  }
  bool forward_done(std::uint32_t chunk, std::uint32_t round) const {
    return done_[0][at(chunk, round)];
  }
  bool inputs_done(std::uint32_t chunk, std::uint32_t round) const {
    return done_[1][at(chunk, round)];
  }
  void mark(const Instance& instance) {
    if (instance.pass == Pass::backward_weights) return;
    done_[instance.pass == Pass::forward ? 0 : 1][at(instance.chunk, instance.round)] = true;
  }

  // What it waits for first; nothing where it may go.
  std::optional<Instance> missing(const Instance& instance) const {
    const auto& [chunk, round, pass, beside] = instance;
    if (pass == Pass::forward) {
      for (std::uint32_t before : pipeline_.feeds_on[chunk]) {
        if (!forward_done(before, round)) return Instance{before, round, Pass::forward};
      }
      return std::nullopt;
    }
    if (!forward_done(chunk, round)) return Instance{chunk, round, Pass::forward};
    if (pass == Pass::backward_weights) {
      if (!inputs_done(chunk, round)) return Instance{chunk, round, Pass::backward_inputs};
      return std::nullopt;
    }
    for (std::uint32_t after : feeds_[chunk]) {
      if (!inputs_done(after, round)) return Instance{after, round, Pass::backward};
    }
    return std::nullopt;
  }

  [[noreturn]] void refuse() const {
    std::vector<std::string> waits;
    for (std::size_t stage = 0; stage < schedule_.size(); ++stage) {
      if (next_[stage] == schedule_[stage].size()) continue;
      const Instance& instance = schedule_[stage][next_[stage]];
      const Instance what = *missing(instance);
      waits.push_back(fmt::format("stage {} waits in {} for {} of stage {}", stage, text(instance),
                                  text(what), pipeline_.stage_of[what.chunk]));
    }
    throw InputError(fmt::format("the schedule ends in a deadlock: {}", fmt::join(waits, "; ")));
  }

  const Schedule& schedule_;
  const Pipeline& pipeline_;
  std::vector<std::size_t> next_;                  // by stage
  std::vector<std::vector<std::uint32_t>> feeds_;  // by chunk: which read its outputs
  std::size_t total_ = 0;
  std::uint32_t rounds_ = 0;
  std::array<std::vector<bool>, 2> done_;  // forward, gradients of inputs; by chunk and round
};

}  // namespace

std::vector<Instance> in_one_order(const Schedule& schedule, const Pipeline& pipeline) {
  return Turns(schedule, pipeline).all();
}

namespace {

// A forward pass in steady state is of a later round than the backward pass before it.
Schedule overlapped(Schedule schedule, PassOverlap overlap) {
  if (overlap == PassOverlap::none) return schedule;
  for (std::vector<Instance>& stage : schedule) {
    for (std::size_t k = 1; k < stage.size(); ++k) {
      if (stage[k].pass != Pass::forward || stage[k - 1].pass == Pass::forward) continue;
      stage[k].beside = true;
    }
  }
  return schedule;
}

}  // namespace

std::vector<Instance> instances(const ScheduleChoice& choice, const Pipeline& pipeline,
                                std::uint32_t rounds) {
  if (!choice.own.empty()) {
    try {
      check_schedule(choice.own, pipeline, rounds);
      return in_one_order(overlapped(choice.own, choice.overlap), pipeline);
    } catch (InputError& error) {
      error.add_context(choice.file);
      throw;
    }
  }
  const ScheduleKind kind = choice.kind.value_or(usual_schedule(pipeline));
  return in_one_order(overlapped(schedule(kind, pipeline, rounds, choice.overlap), choice.overlap),
                      pipeline);
}

}  // namespace strata
