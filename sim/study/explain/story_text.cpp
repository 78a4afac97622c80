// A story in words.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/study/explain/story.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr double kWorthTelling = 0.005;  // of the step
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
                               {path.statistics, "sums of statistics"}};
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

std::string step_sentence(const Story& story) {
  const std::vector<Share> shares = shares_of(story.path, story.step);
  std::string text = fmt::format("A step takes {}", format_seconds(story.step));
  if (shares.empty()) return text + ".";
  const Share& most = shares.front();
  return text +
         fmt::format(": on its critical path are {}. What binds it is the {}, {} of the step.",
                     made_of(story.path, story.step), most.of, percent(most.seconds / story.step));
}

std::string busiest_sentence(const Story& story) {
  std::string text = fmt::format("The busiest device is {}, which works {} of the step",
                                 story.device.name, percent(story.device.share));
  if (!story.link) return text + ".";
  return text + fmt::format("; the busiest link is {}, which is full for {} of it.",
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
  if (story.lower_bound <= Seconds{} || story.lower_bound > story.step) return {};
  const double gap = (story.step - story.lower_bound) / story.step;
  if (gap <= kEqualSteps) return "It is proved that no strategy of the search space is faster.";
  return fmt::format(
      "No strategy of the search space is more than {} faster: whatever the cuts, devices compute "
      "and "
      "wait for {}.",
      percent(gap), format_seconds(story.lower_bound));
}

std::string memory_sentence(const Story& story) {
  if (story.fits) return {};
  return fmt::format("It does not fit: a device needs {}.", format_bytes(story.peak_memory));
}

// "6.5 % more than ...", "3.8 times as long as ...".
std::string compared(double ratio) {
  if (ratio >= 2) return fmt::format("{:.2g} times as long", ratio);
  if (ratio > 1 + kEqualSteps) return fmt::format("{} more", percent(ratio - 1));
  if (ratio < 1 - kEqualSteps) return fmt::format("{} less", percent(1 - ratio));
  return "as long";
}

std::string rival_sentence(const Story& story, const Rival& rival) {
  const double ratio = rival.step / story.step;
  std::string text =
      fmt::format("{} takes {}, {}, with {} on its critical path.", rival.strategy.name(),
                  format_seconds(rival.step), compared(ratio), made_of(rival.path, rival.step));
  if (!rival.fits) {
    text += fmt::format(" It does not fit: a device needs {}.", format_bytes(rival.peak_memory));
  }
  if (rival.turns.empty()) return text + " " + std::string(kNoTurns);
  return text + fmt::format(" It would {} with {}.",
                            ratio < 1 - kEqualSteps ? "be slower" : "be faster",
                            turns_text(rival.turns));
}

}  // namespace

std::vector<std::string> sentences(const Case& input, const Story& story) {
  std::vector<std::string> all = {step_sentence(story), communication_sentence(input, story),
                                  busiest_sentence(story), bound_sentence(story),
                                  memory_sentence(story)};
  for (const Rival& rival : story.rivals) all.push_back(rival_sentence(story, rival));
  std::erase_if(all, [](const std::string& s) { return s.empty(); });
  return all;
}

std::string what(const Graph& graph, const Exposure& part) {
  const std::string& layer = graph[part.layer].name;
  if (part.producer.valid()) {
    return fmt::format("the transfer from {} to {}", graph[part.producer].name, layer);
  }
  return fmt::format("the sum of {}'s {}", layer,
                     part.kind == WorkKind::statistics ? "statistics" : "gradients");
}

std::string turns_text(const std::vector<BreakEven>& turns) {
  std::vector<std::string> parts;
  for (const BreakEven& turn : turns) {
    const std::string step = format_seconds(turn.step), other = format_seconds(turn.other_step);
    parts.push_back(step == other
                        ? fmt::format("{} (both {})", option_text(turn), step)
                        : fmt::format("{} ({} against {})", option_text(turn), other, step));
  }
  return listed(parts, " or ");
}

std::string option_text(const BreakEven& turn) {
  if (turn.key == "batch") return "--batch " + turn.value;
  return fmt::format("--set {}={}", turn.key, turn.value);
}

}  // namespace strata
