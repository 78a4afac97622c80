#include "sim/trust/anomalies.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/case/what_ifs.h"

namespace strata {
namespace {

bool changes_rates(const std::string& key) {
  const WhatIfSpec* const what_if = find_what_if(key);
  if (what_if == nullptr) return false;
  switch (what_if->form) {
    case WhatIfForm::bandwidth:
    case WhatIfForm::latency:
    case WhatIfForm::speed:
    case WhatIfForm::duration:
      return true;
    default:
      return false;
  }
}

// More of each is a faster machine.
std::vector<double> rates(const Case& input) {
  std::vector<double> all;
  for (const Link& link : input.cluster.links()) {
    all.insert(all.end(), {link.bandwidth.value, -link.latency.value});
  }
  for (const Device& device : input.cluster.devices()) all.push_back(device.speed);
  for (const Layer& layer : input.graph.layers()) all.push_back(layer.speed);
  const Launches& launches = input.runtime.launches;
  for (const Seconds time : {launches.forward, launches.backward, launches.update,
                             launches.communication, launches.lockstep}) {
    all.push_back(-time.value);
  }
  if (!input.sync.updates_on_host()) return all;
  const HostUpdates& host = input.runtime.host;
  all.push_back(host.memory.of(kUsualHostMemory).value);
  for (const Device& device : input.cluster.devices()) {
    all.push_back(host.link.of(usual_host_link(device.kind)).value);
  }
  return all;
}

MachineChange change_of(const std::vector<double>& before, const std::vector<double>& after) {
  bool faster = false, slower = false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    faster = faster || after[i] > before[i];
    slower = slower || after[i] < before[i];
  }
  if (faster && slower) return MachineChange::both;
  if (faster) return MachineChange::faster;
  return slower ? MachineChange::slower : MachineChange::none;
}

// The request with the chosen what-ifs, or the others.
CaseRequest with_sets(const CaseRequest& request, std::span<const MachineChange> changes,
                      MachineChange change, bool chosen) {
  CaseRequest result = request;
  result.sets.clear();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if ((changes[i] == change) == chosen) result.sets.push_back(request.sets[i]);
  }
  return result;
}

std::optional<Seconds> step_of(const CaseRequest& request, const Strategy& strategy,
                               PredictOptions options) try {
  options.critical_path = options.memory = options.eq1 = options.breakdown = false;
  return predict(load_case(request), strategy, options).step_seconds();
} catch (const InputError&) {  // a link may be too slow for the clock
  return std::nullopt;
}

}  // namespace

std::vector<MachineChange> machine_changes(const CaseRequest& request) {
  std::vector<MachineChange> changes;
  CaseRequest so_far = request;
  so_far.sets.clear();
  std::vector<double> before;
  for (const auto& [key, value] : request.sets) {
    if (!changes_rates(key)) {
      changes.push_back(MachineChange::none);
      continue;
    }
    if (before.empty()) before = rates(load_case(so_far));
    so_far.sets.emplace_back(key, value);
    std::vector<double> after = rates(load_case(so_far));
    changes.push_back(change_of(before, after));
    before = std::move(after);
  }
  return changes;
}

std::vector<Anomaly> anomalies(const CaseRequest& request, std::span<const MachineChange> changes,
                               const Strategy& strategy, Seconds step,
                               const PredictOptions& options) {
  // Of very many tasks, rounds that nearly repeat stand for others (predict.cpp).
  constexpr double kRounding = 1e-3;
  std::vector<Anomaly> found;
  for (const MachineChange change : {MachineChange::faster, MachineChange::slower}) {
    if (std::ranges::count(changes, change) == 0) continue;
    const std::optional<Seconds> without =
        step_of(with_sets(request, changes, change, false), strategy, options);
    if (!without) continue;
    const bool faster = change == MachineChange::faster;
    const Seconds less = faster ? *without : step, more = faster ? step : *without;
    if (less.value >= more.value * (1 - kRounding)) continue;
    found.push_back({with_sets(request, changes, change, true).sets, faster, *without});
  }
  return found;
}

std::string anomaly_text(const Anomaly& anomaly, Seconds step) {
  std::vector<std::string> sets;
  for (const auto& [key, value] : anomaly.what_ifs) sets.push_back(key + "=" + value);
  const double change = anomaly.without / step - 1;
  return fmt::format(
      "the step is {:.2g} % {} without {}; on a {} machine devices compute and flows meet in "
      "another order, which may be {}",
      100 * std::abs(change), change < 0 ? "shorter" : "longer", fmt::join(sets, ", "),
      anomaly.faster_machine ? "faster" : "slower", anomaly.faster_machine ? "worse" : "better");
}

}  // namespace strata
