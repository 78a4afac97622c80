#include "exec/runtime/rank_results.h"

#include <bit>
#include <cstdint>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

void merge_losses(const Ranks& ranks, std::span<LossPart> parts) {
  std::vector<double> losses;
  std::vector<std::int64_t> correct;
  for (const LossPart& part : parts) {
    losses.push_back(part.loss);
    correct.push_back(part.correct);
  }
  ranks.merge(losses);
  ranks.merge(correct);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = {losses[i], correct[i]};
}

void merge_spans(const Ranks& ranks, std::vector<Span>& spans) {
  std::vector<double> times;
  for (const Span& s : spans) {
    times.insert(times.end(), {s.ready.value, s.start.value, s.end.value});
  }
  ranks.merge(times);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i] = {{times[3 * i]}, {times[3 * i + 1]}, {times[3 * i + 2]}};
  }
}

}  // namespace

void merge_results(const Ranks& ranks, TaskWork& work, std::vector<Span>& spans) {
  merge_losses(ranks, work.losses());
  merge_spans(ranks, spans);
  std::vector<std::int64_t> moved;
  for (const auto& bytes : work.moved()) moved.push_back(bytes);
  ranks.add(moved);
  for (std::size_t i = 0; i < moved.size(); ++i) work.moved()[i] = moved[i];
}

std::vector<float> merged_parameters(const Ranks& ranks, const Executor& own, const Graph& graph,
                                     LayerId layer) {
  const std::vector<float> held_here = own.parameters(layer);
  const std::vector<bool> held = own.holds(layer);
  std::vector<float> whole = held_here;
  ranks.merge(whole);
  bool differ = false;
  for (std::size_t i = 0; i < held_here.size(); ++i) {
    differ = differ || (held[i] && std::bit_cast<std::uint32_t>(held_here[i]) !=
                                       std::bit_cast<std::uint32_t>(whole[i]));
  }
  if (ranks.any(differ)) {
    throw EnvironmentError(
        fmt::format("the replicas' parameters of layer {} differ", graph[layer].name));
  }
  return whole;
}

std::vector<float> merged_gradients(const Ranks& ranks, const Executor& own, LayerId layer) {
  std::vector<float> whole = own.gradients(layer);
  ranks.merge(whole);
  return whole;
}

}  // namespace strata
