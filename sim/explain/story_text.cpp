// A story in words.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/explain/story.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/stages.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr double kWorthTelling = 0.005;  // of the step
constexpr double kSame = 0.0005, kHalf = 0.5;
constexpr std::size_t kNamed = 3;

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

struct Share {
  Seconds seconds;
  std::string_view of;
};

// The largest first, without what is not worth telling.
std::vector<Share> shares_of(const PathShares& path, Seconds step) {
  std::vector<Share> shares = {{path.compute, "computation"},
                               {path.transfer, "transfers"},
                               {path.sync, "sums of gradients"},
                               {path.statistics, "sums of statistics"},
                               {path.idle, "launches"}};
  std::erase_if(shares, [&](const Share& s) { return s.seconds < step * kWorthTelling; });
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.seconds > b.seconds; });
  return shares;
}

// "a, b and c"; `last`: what stands before the last one.
std::string listed(const std::vector<std::string>& parts, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 < parts.size() ? ", " : last;
    text += parts[i];
  }
  return text;
}

std::string made_of(const PathShares& path, Seconds step) {
  std::vector<std::string> parts;
  for (const Share& share : shares_of(path, step)) {
    parts.push_back(fmt::format("{} of {}", format_seconds(share.seconds), share.of));
  }
  return listed(parts, " and ");
}

// "6.5 % more", "3.8 times as long", "72 times as fast".
std::string compared(double ratio) {
  if (std::abs(ratio - 1) < kSame) return "as long";
  if (ratio >= 2) return fmt::format("{:.{}f} times as long", ratio, ratio < 9.95 ? 1 : 0);
  if (ratio > 1) return fmt::format("{} more", percent(ratio - 1));
  if (ratio > kHalf) return fmt::format("{} less", percent(1 - ratio));
  return fmt::format("{:.{}f} times as fast", 1 / ratio, 1 / ratio < 9.95 ? 1 : 0);
}

// Data parallelism, or the fastest of the others where it is not beside it; of those that fit.
const Rival* usual_rival(const Story& story) {
  const auto data = std::ranges::find_if(story.rivals, [](const Rival& rival) {
    return rival.fits && rival.strategy.name() == "data";
  });
  if (data != story.rivals.end()) return &*data;
  const auto fastest = std::ranges::find_if(story.rivals, &Rival::fits);
  return fastest == story.rivals.end() ? nullptr : &*fastest;
}

std::string step_sentence(const Story& story) {
  std::string text = fmt::format("A step takes {}", format_seconds(story.step));
  const std::vector<Share> shares = shares_of(story.path, story.step);
  if (shares.empty()) return text + ".";
  const Rival* const other = usual_rival(story);
  if (other != nullptr) {
    text += fmt::format(", where {} takes {}, {}", other->strategy.name(),
                        format_seconds(other->step), compared(other->step / story.step));
  }
  text += fmt::format(": its critical path is {}", made_of(story.path, story.step));
  if (other != nullptr) {
    text += fmt::format("; that of {} is {}", other->strategy.name(),
                        made_of(other->path, other->step));
  }
  const Share& most = shares.front();
  return text + fmt::format(". What binds it: {}, {} of the step.", most.of,
                            percent(most.seconds / story.step));
}

std::string pipeline_sentence(const Case& input, const Story& story) {
  const std::size_t stages = stages_of(input.graph, story.strategy).stages();
  if (stages < 2) return {};
  return fmt::format("{} is a pipeline of {} stages. {}.", story.strategy.name(), stages,
                     parts_text(story.parts));
}

std::string run_cut(const Graph& graph, const EqualCuts& run, const Config& cut) {
  std::vector<LayerId> layers;
  layers.reserve(run.last() - run.first() + 1);
  for (std::size_t i = run.first(); i <= run.last(); ++i) layers.emplace_back(i);
  return config_text(graph, layers, cut);
}

std::string cuts_sentence(const Case& input, const Story& story) {
  constexpr std::size_t kMost = 6;
  const std::vector<EqualCuts> runs = equal_cuts(input.graph, story.strategy);
  std::vector<std::string> parts;
  for (const EqualCuts& run : runs) {
    if (parts.size() + 1 == kMost && runs.size() > kMost) {
      parts.push_back(fmt::format("{} more runs of layers otherwise", runs.size() - parts.size()));
      break;
    }
    parts.push_back(fmt::format("{} by {}", layers_text(input.graph, run),
                                run_cut(input.graph, run, story.strategy[run.first])));
  }
  if (parts.empty()) return {};
  return fmt::format("{} cuts {}.", story.strategy.name(), listed(parts, " and "));
}

std::string busiest_sentence(const Story& story) {
  std::string text = fmt::format("The busiest device is {}, which works {} of the step",
                                 story.device.name, percent(story.device.share));
  if (!story.link) return text + ".";
  return text + fmt::format("; the busiest link is {}, which carries {} of what it could.",
                            story.link->name, percent(story.link->share));
}

std::string communication_sentence(const Case& input, const Story& story) {
  const Exposure& all = story.exposures.all;
  if (all.lasts <= Seconds{}) return "Nothing moves between devices.";
  std::string text = fmt::format(
      "Communication is under way for {} of the step, {} of it hidden, {} exposed",
      format_seconds(all.lasts), format_seconds(all.hidden()), format_seconds(all.exposed));
  std::vector<std::string> most;
  for (const Exposure& part : story.exposures.parts) {
    if (most.size() == kNamed || part.exposed < story.step * kWorthTelling) break;
    most.push_back(fmt::format("{} ({})", what(input.graph, part), format_seconds(part.exposed)));
  }
  return text + (most.empty() ? "." : ": most of all " + listed(most, " and ") + ".");
}

std::string bound_sentence(const Story& story) {
  if (story.lower_bound <= Seconds{} || story.lower_bound > (1 + kEqualSteps) * story.step)
    return {};
  const double gap = (story.step - story.lower_bound) / story.step;
  if (gap <= kEqualSteps) return "It is proved that no strategy of the search space is faster.";
  const std::string less = gap < kHalf ? fmt::format(", {} less", percent(gap)) : "";
  return fmt::format(
      "No strategy of the search space takes less than {}{}: devices compute and wait for that "
      "long.",
      format_seconds(story.lower_bound), less);
}

std::string memory_sentence(const Story& story) {
  if (story.fits) return {};
  std::string text = fmt::format("It does not fit: {}.", story.shortage);
  if (story.nothing_fits()) {
    text += fmt::format(" Nothing of the search space fits: a device needs at least {} and has {}.",
                        format_bytes(story.least_memory), format_bytes(story.capacity));
  } else if (!story.rivals.empty() && std::ranges::none_of(story.rivals, &Rival::fits)) {
    text += " None of the others here fits, either; strata solve finds one that does, if any.";
  }
  return text;
}

std::string rival_sentence(const Story& story, const Rival& rival) {
  const double ratio = rival.step / story.step;
  std::string text =
      fmt::format("{} takes {}, {}, with {} on its critical path.", rival.strategy.name(),
                  format_seconds(rival.step), compared(ratio), made_of(rival.path, rival.step));
  if (!rival.fits) {
    return text + fmt::format(" It does not fit: {}.", rival.shortage);
  }
  if (std::abs(ratio - 1) < kSame) return text;
  return text + " " +
         turns_text(rival.turns, rival.step < story.step, story.strategy.name(), story.all_tried);
}

}  // namespace

std::vector<std::string> sentences(const Case& input, const Story& story) {
  std::vector<std::string> all = {
      step_sentence(story),   cuts_sentence(input, story), pipeline_sentence(input, story),
      bound_sentence(story),  memory_sentence(story),      communication_sentence(input, story),
      busiest_sentence(story)};
  bool turns = false;
  for (const Rival& rival : story.rivals) {
    all.push_back(rival_sentence(story, rival));
    turns = turns || !rival.turns.empty();
  }
  if (turns) all.emplace_back(kTurnsNote);
  std::erase_if(all, [](const std::string& s) { return s.empty(); });
  return all;
}

std::string parts_text(const StepParts& parts) {
  std::string text =
      fmt::format("A device's step on average: {} compute", format_seconds(parts.compute));
  const Seconds least = 1e-6 * parts.total();
  const auto add = [&](Seconds seconds, std::string_view what) {
    if (seconds > least) text += fmt::format(", {} {}", format_seconds(seconds), what);
  };
  add(parts.recompute, "recompute");
  add(parts.optimizer, "optimizer");
  add(parts.exposed.transfer, "exposed transfers");
  add(parts.exposed.reduce, "exposed gradient sums");
  add(parts.exposed.gather, "exposed gathers");
  add(parts.exposed.statistics, "exposed statistics");
  add(parts.launch, "launch");
  add(parts.bubble, "bubble");
  return text;
}

std::string what(const Graph& graph, const Exposure& part) {
  const std::string& layer = graph[part.layer].name;
  if (part.producer == part.layer) return fmt::format("the partial sums of {}", layer);
  if (part.producer.valid()) {
    return fmt::format("the transfer from {} to {}", graph[part.producer].name, layer);
  }
  return fmt::format("the sum of {}'s {}", layer,
                     part.kind == WorkKind::statistics ? "statistics" : "gradients");
}

std::string change_text(const BreakEven& turn) {
  if (turn.key == "batch") return fmt::format("a batch of {} in all", turn.value);
  return fmt::format("{}={}", turn.key, turn.value);
}

std::string turns_text(const std::vector<BreakEven>& turns, bool faster_now, std::string_view own,
                       bool all_tried) {
  std::vector<std::string> parts;
  parts.reserve(turns.size());
  for (const BreakEven& turn : turns) {
    parts.push_back(fmt::format("{} ({} against {})", change_text(turn),
                                format_seconds(turn.other_step), format_seconds(turn.step)));
  }
  const std::string_view rest = all_tried ? "" : " Not all was tried: it would take long.";
  const std::string_view order = faster_now ? "slower" : "faster";
  if (parts.empty()) {
    return fmt::format(
        "With no other bandwidth, speed, batch or overlap that was tried is it {} than {}.{}",
        order, own, rest);
  }
  return fmt::format("It is {} than {} with {}.{}", order, own, listed(parts, " or "), rest);
}

}  // namespace strata
