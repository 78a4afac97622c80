// What collectives take among GPUs of a tray and of a rack of GB200 and GB300, measured
// (profiles/sources/nccl_racks.csv), beside what the presets say of them; and the all-to-alls of
// mixtures of experts. docs/profiles.md has what this prints.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/plan/collective.h"
#include "sim/text/file.h"
#include "sim/text/split.h"
#include "sim/text/units.h"
#include "tests/paths.h"

namespace strata {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> rows_of_source(const std::string& file) {
  std::vector<Fields> rows;
  const std::string text = read_file(source_path("profiles/sources/" + file));
  bool header = true;
  for (std::string_view line : split(text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    if (std::exchange(header, false)) continue;
    Fields fields;
    for (std::string_view field : split(line, ',')) fields.emplace_back(field);
    rows.push_back(std::move(fields));
  }
  return rows;
}

GroupWork work_of(const std::string& collective) {
  if (collective == "all_gather") return GroupWork::all_gather;
  if (collective == "reduce_scatter") return GroupWork::reduce_scatter;
  return collective == "all_reduce" ? GroupWork::all_reduce : GroupWork::all_to_all;
}

double seconds_of(const Cluster& cluster, GroupWork work, Bytes bytes) {
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) devices.emplace_back(d);
  double seconds = 0;
  for (const CollectivePhase& phase :
       collective_phases(SyncAlgorithm::ring, cluster, devices, bytes, work)) {
    double slowest = 0;
    for (const LinkLoad& load : phase.loads) {
      slowest = std::max(slowest, load.demand() / cluster[load.link].bandwidth.value);
    }
    seconds +=
        phase.latency.value + phase.bytes_per_byte * slowest * static_cast<double>(bytes.value);
  }
  return seconds;
}

// Predicted over measured, less one.
class RackErrors {
 public:
  void add(double predicted, double measured) { all_.push_back(predicted / measured - 1); }
  std::size_t rows() const { return all_.size(); }
  double quantile(double part) const {
    std::vector<double> sizes;
    for (const double error : all_) sizes.push_back(std::abs(error));
    std::sort(sizes.begin(), sizes.end());
    return sizes[static_cast<std::size_t>(part * static_cast<double>(sizes.size() - 1))];
  }
  double bias() const {
    double sum = 0;
    for (const double error : all_) sum += error;
    return sum / static_cast<double>(all_.size());
  }

 private:
  std::vector<double> all_;
};

bool is_fitted(const Fields& row) {
  if (row[2] == "all_to_all") return false;
  return row[1] == "tray" || row[3] == "8" || row[3] == "32" || row[3] == "64";
}

RackErrors errors_where(const std::vector<Fields>& rows, const auto& wanted) {
  RackErrors errors;
  std::map<std::string, Cluster> clusters;
  for (const Fields& row : rows) {
    if (!wanted(row)) continue;
    const std::string name = fmt::format("{}-1xNVL{}", row[0], row[3]);
    const Cluster& cluster = clusters.try_emplace(name, preset_cluster(name)).first->second;
    const GroupWork work = work_of(row[2]);
    auto bytes = static_cast<std::int64_t>(parse_number(row[4]));
    if (work == GroupWork::all_to_all) bytes *= static_cast<std::int64_t>(cluster.device_count());
    errors.add(seconds_of(cluster, work, Bytes{bytes}), parse_number(row[5]) * 1e-6);
  }
  return errors;
}

TEST(NcclInRacks, CollectivesArePredictedFromOneMebibyteOn) {
  const std::vector<Fields> rows = rows_of_source("nccl_racks.csv");
  for (const std::string kind : {"gb200", "gb300"}) {
    for (const std::string where : {"tray", "rack"}) {
      for (const std::string collective :
           {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}) {
        const RackErrors errors = errors_where(rows, [&](const Fields& row) {
          return row[0] == kind && row[1] == where && row[2] == collective;
        });
        fmt::print("| {} | {} | {} | {} | {:.1f} % | {:.1f} % | {:+.1f} % |\n", kind, where,
                   collective, errors.rows(), 100 * errors.quantile(0.5),
                   100 * errors.quantile(0.95), 100 * errors.bias());
        const bool fitted = collective != "all_to_all";
        EXPECT_LT(errors.quantile(0.5), fitted ? 0.1 : 0.2) << kind << where << collective;
        EXPECT_LT(errors.quantile(0.95), fitted ? 0.36 : 0.6) << kind << where << collective;
      }
    }
  }
}

TEST(NcclInRacks, GroupsThatNothingWasFittedToAreAsFarOff) {
  const std::vector<Fields> rows = rows_of_source("nccl_racks.csv");
  const RackErrors fitted = errors_where(rows, is_fitted);
  const RackErrors others = errors_where(
      rows, [](const Fields& row) { return !is_fitted(row) && row[2] != "all_to_all"; });
  for (const auto& [name, errors] : {std::pair("fitted", &fitted), {"others", &others}}) {
    fmt::print("| {} | {} | {:.1f} % | {:.1f} % | {:+.1f} % |\n", name, errors->rows(),
               100 * errors->quantile(0.5), 100 * errors->quantile(0.95), 100 * errors->bias());
    EXPECT_LT(errors->quantile(0.5), 0.07) << name;
    EXPECT_LT(errors->quantile(0.95), 0.3) << name;
  }
}

// Nothing was fitted to these. Each GPU sends every token that goes to one of its experts there:
// once to each GPU that has one, up to eight.
TEST(NcclInRacks, AllToAllsOfExpertsAreSlowerThanNccl) {
  constexpr std::int64_t kHidden = 7168, kTopK = 8;
  std::map<std::tuple<std::string, std::string, int>, RackErrors> errors;
  for (const Fields& row : rows_of_source("moe_alltoall_gb200.csv")) {
    const auto gpus = static_cast<std::int64_t>(parse_number(row[2]));
    const auto tokens = static_cast<std::int64_t>(parse_number(row[3]));
    if (tokens < 1024) continue;
    const Cluster cluster = preset_cluster(fmt::format("gb200-1xNVL{}", gpus));
    const auto element = static_cast<std::int64_t>(parse_number(row[1]));
    const std::int64_t bytes = gpus * tokens * kHidden * element * std::min(kTopK, gpus);
    errors[{row[0], row[1], static_cast<int>(gpus)}].add(
        seconds_of(cluster, GroupWork::all_to_all, Bytes{bytes}), parse_number(row[4]) * 1e-6);
  }
  for (const auto& [key, all] : errors) {
    const auto& [phase, element, gpus] = key;
    fmt::print("| {}, {} bytes | {} | {} | {:.1f} % | {:.1f} % | {:+.1f} % |\n", phase, element,
               gpus, all.rows(), 100 * all.quantile(0.5), 100 * all.quantile(0.95),
               100 * all.bias());
    EXPECT_LT(all.quantile(0.95), 0.8) << phase << gpus;
  }
}

}  // namespace
}  // namespace strata
