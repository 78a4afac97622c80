// A Profile of what was measured, and two of them in one (calibrate.h).

#include <algorithm>
#include <map>
#include <set>

#include "sim/measure/calibrate.h"

namespace strata {
namespace {

constexpr Bytes kStreamedMove{1 << 20};
// Rows shorter than the first say more of the clock than of the device; where there are none that
// are longer, the next.
constexpr double kTrusted[] = {1e-4, 1e-5, 0};
constexpr double kLeastRate = 1e9;
constexpr std::size_t kFp32 = static_cast<std::size_t>(DType::fp32);

using Rows = std::vector<MeasuredCost>;

double elements(const CostKey& key) {
  double sum = static_cast<double>(volume(key.output));
  for (const Extents& input : key.inputs) sum += static_cast<double>(volume(input));
  return sum;
}

// Two per multiply-accumulate, where the row is a product of matrices.
double flops(const CostKey& key) {
  const bool fully_connected = key.signature.starts_with("fc");
  const bool pointwise = key.signature.starts_with("conv") &&
                         key.signature.find("kernel=1x1x1") != std::string::npos &&
                         key.signature.find("groups=1 ") != std::string::npos;
  if (!fully_connected && !pointwise) return 0;
  const Extents& in = key.inputs.front();
  const auto depth = static_cast<double>(fully_connected ? volume(in) / in[Dim::n] : in[Dim::c]);
  return 2 * static_cast<double>(volume(key.output)) * depth;
}

bool has_type(const Rows& rows, DType dtype) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const MeasuredCost& row) { return row.key.dtype == dtype; });
}

FlopsPerSecond peak(const Rows& rows, DType dtype) {
  double best = 0;
  for (double trusted : kTrusted) {
    for (const MeasuredCost& row : rows) {
      const bool counts = row.key.phase == Phase::forward && row.key.dtype == dtype;
      if (!counts || row.seconds.value <= trusted) continue;
      best = std::max(best, flops(row.key) / row.seconds.value);
    }
    if (best > 0) break;
  }
  return {std::max(best, kLeastRate)};
}

BytesPerSecond bandwidth(const Rows& rows, const std::vector<MeasuredMove>& moves) {
  double best = kLeastRate;
  for (const MeasuredMove& move : moves) {
    if (move.kind != MoveKind::local || move.bytes < kStreamedMove) continue;
    best = std::max(best, 2 * static_cast<double>(move.bytes.value) / move.seconds.value);
  }
  for (const MeasuredCost& row : rows) {
    if (row.key.signature != "relu" || row.seconds.value <= kTrusted[0]) continue;
    const auto bytes = static_cast<double>(element_bytes(row.key.dtype)) * elements(row.key);
    best = std::max(best, bytes / row.seconds.value);
  }
  return {best};
}

template <class T>
Sourced<T> measured(T value) {
  return {value, "the fastest measured row"};
}
template <class T>
Sourced<T> assumed(T value) {
  return {value, "assumed: only for what was not measured"};
}

// Without rows in fp32, a type that everything computes in, the slowest of the others stands in.
Peaks peaks(const Rows& rows) {
  Peaks all;
  double slowest = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!has_type(rows, static_cast<DType>(i))) continue;
    all[i] = measured(peak(rows, static_cast<DType>(i)));
    const double rate = all[i]->value.value;
    slowest = slowest == 0 ? rate : std::min(slowest, rate);
  }
  if (!all[kFp32]) all[kFp32] = assumed(FlopsPerSecond{std::max(slowest, kLeastRate)});
  return all;
}

void set_roofline(Profile& profile) {
  profile.bandwidth = measured(bandwidth(profile.measured, profile.moves));
  profile.peaks = peaks(profile.measured);
  Efficiency& e = profile.efficiency;
  e.launch = assumed(Seconds{1e-6});
  e.memory = e.gemm = assumed(1.0);
  e.winograd = assumed(0.0);
  e.direct = assumed(0.3);
  e.half_tile = e.half_depth = assumed(8.0);
  e.tile_m = e.tile_n = assumed(std::int64_t{16});
  e.split_k = assumed(std::int64_t{1} << 20);
  e.cores = assumed(std::int64_t{1});
}

bool ships(const std::string& kind) {
  const std::vector<std::string> kinds = shipped_profiles();
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Of all parts but the newest, each once: one command may measure several networks.
std::vector<Provenance> earlier_parts(const Profile& older, const Profile& newer) {
  std::vector<Provenance> all = older.earlier;
  all.push_back(older.provenance);
  all.insert(all.end(), newer.earlier.begin(), newer.earlier.end());
  std::vector<Provenance> parts;
  for (Provenance& part : all) {
    const bool known = std::find(parts.begin(), parts.end(), part) != parts.end();
    if (!known && part != newer.provenance) parts.push_back(std::move(part));
  }
  return parts;
}

// By type: of the one that measured it, where the other did not; else the faster.
Peaks merged_peaks(const Profile& older, const Profile& newer) {
  Peaks result = newer.peaks;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto& old = older.peaks[i];
    if (!old) continue;
    const bool was = has_type(older.measured, static_cast<DType>(i));
    const bool is = has_type(newer.measured, static_cast<DType>(i));
    const bool faster = !result[i] || result[i]->value < old->value;
    if (was != is ? was : faster) result[i] = old;
  }
  return result;
}

}  // namespace

Profile profile_of(std::vector<MeasuredCost> costs, std::vector<MeasuredMove> moves,
                   const Origin& origin) {
  Profile profile;
  if (ships(origin.kind)) profile = load_profile(origin.kind);
  const bool shipped = !profile.kind.empty();
  profile.kind = origin.kind;
  profile.description = origin.machine;
  profile.devices = origin.devices;
  profile.measured = std::move(costs);
  profile.moves = std::move(moves);
  profile.memory_capacity = origin.memory;
  if (!shipped) set_roofline(profile);
  profile.provenance = {origin.date, origin.method, origin.command};
  profile.earlier.clear();
  profile.costs.clear();
  profile.tables.clear();  // of other machines
  return profile;
}

Profile merged(const Profile& profile, const Profile& newer) {
  Profile result = newer;
  result.earlier = earlier_parts(profile, newer);
  if (profile.devices != newer.devices) result.devices = 0;
  const auto add_older = [](auto& rows, const auto& older, const auto& key) {
    std::set<std::decay_t<decltype(key(rows.front()))>> known;
    for (const auto& row : rows) known.insert(key(row));
    for (const auto& row : older) {
      if (!known.contains(key(row))) rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
  };
  add_older(result.measured, profile.measured, [](const MeasuredCost& row) { return row.key; });
  add_older(result.moves, profile.moves,
            [](const MeasuredMove& row) { return std::pair(row.kind, row.bytes); });
  if (result.bandwidth.value < profile.bandwidth.value) result.bandwidth = profile.bandwidth;
  result.peaks = merged_peaks(profile, newer);
  if (result.tables.empty()) result.tables = profile.tables;
  return result;
}

}  // namespace strata
