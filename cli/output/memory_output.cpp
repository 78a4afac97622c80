#include "cli/output/memory_output.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/table.h"
#include "sim/case/memory_need.h"
#include "sim/text/units.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

// Tensors of layers that are the same and are cut alike.
struct Row {
  const Buffer* first;
  std::int64_t count = 1;
};

std::vector<Row> rows_of(const Case& input, const Prediction& p, DeviceId device) {
  std::vector<Row> rows;
  for (const BufferId id : kept_at_peak(p.plan, p.timeline, device)) {
    const Buffer& buffer = p.plan[id];
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
      const Buffer& other = *row.first;
      return other.kind == buffer.kind && other.bytes == buffer.bytes &&
             other.input == buffer.input &&
             p.strategy[other.layer].degrees == p.strategy[buffer.layer].degrees &&
             input.graph[other.layer].op == input.graph[buffer.layer].op;
    });
    if (same != rows.end()) {
      ++same->count;
    } else {
      rows.push_back({&buffer});
    }
  }
  return rows;
}

}  // namespace

std::string peak_text(const Case& input, const Prediction& prediction, std::optional<Bytes> limit) {
  const DeviceId device = fullest(prediction.peak_memory);
  const MemoryParts parts = memory_at_peak(prediction.plan, prediction.timeline, device);
  std::vector<std::string> texts;
  const auto add = [&](Bytes bytes, std::string_view what) {
    if (bytes > Bytes{}) texts.push_back(fmt::format("{} of {}", format_bytes(bytes), what));
  };
  add(parts.parameters, "parameters");
  add(parts.gradients, "their gradients");
  add(parts.optimizer, "the optimizer");
  add(parts.activations, "activations kept for the backward pass");
  add(parts.buffers, "other buffers");
  const std::string need = need_text(memory_need(input, prediction, limit));
  return fmt::format("{}: memory of {} at its peak {}: {}\n{}{}", prediction.strategy.name(),
                     input.cluster[device].full_name(), format_bytes(parts.total()),
                     fmt::join(texts, ", "), need, need.empty() ? "" : "\n");
}

std::string kept_text(const Case& input, const Prediction& prediction) {
  const DeviceId device = fullest(prediction.peak_memory);
  std::vector<Row> rows = rows_of(input, prediction, device);
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.first->bytes * a.count > b.first->bytes * b.count;
  });
  TextTable table;
  Bytes sum;
  for (const Row& row : rows) {
    const std::string& layer = input.graph[row.first->layer].name;
    const Bytes all = row.first->bytes * row.count;
    sum += all;
    table.add(
        {{"layer", row.count == 1 ? layer : fmt::format("{} and {} more", layer, row.count - 1),
          TextTable::left},
         {"kept", std::string(kept_name(*row.first)), TextTable::left},
         {"each", format_bytes(row.first->bytes)},
         {"in all", format_bytes(all)}});
  }
  return fmt::format(
      "\n{}: kept by {} at its peak from forward passes for backward ones, {} in all:\n\n{}",
      prediction.strategy.name(), input.cluster[device].full_name(), format_bytes(sum),
      table.print());
}

}  // namespace strata
