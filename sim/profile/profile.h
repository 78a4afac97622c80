#pragma once

// What is known of one kind of device: its constants, the efficiency model that turns them into
// times, measured moves of bytes, and measured costs of layer shards and of kernels. Every figure
// says where it comes from. Text in profiles/*.toml, with the rows in tables beside it
// (docs/profiles.md is the reference of both formats and of the model). Immutable; thread-safe.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/phase.h"
#include "sim/profile/kernel_table.h"
#include "sim/profile/measured_cost.h"
#include "sim/profile/measured_move.h"

namespace strata {

/// A figure and where it comes from.
template <class T>
struct Sourced {
  T value{};
  std::string source;

  bool operator==(const Sourced&) const = default;
};

/// How far a kernel stays below the device's peaks (docs/profiles.md, "The efficiency model").
struct Efficiency {
  Sourced<Seconds> launch;     ///< of every kernel: what passes while the device does no work
  Sourced<double> memory;      ///< share of the bandwidth that streaming reaches, (0, 1]
  Sourced<double> gemm;        ///< share of the peak that an endless matrix product reaches, (0, 1]
  Sourced<double> winograd;    ///< share of Winograd's saving that its transforms leave, [0, 1]
  Sourced<double> direct;      ///< share of the fp32 peak of a grouped direct convolution, (0, 1]
  Sourced<double> half_tile;   ///< extent of a product's m or n at which it runs half as fast
  Sourced<double> half_depth;  ///< the same of its k
  Sourced<std::int64_t> tile_m;  ///< the tile of the output that one core computes at a time
  Sourced<std::int64_t> tile_n;
  Sourced<std::int64_t> split_k;  ///< a deeper product is split, so that its tail is no deeper
  Sourced<std::int64_t> cores;    ///< multiprocessors: the tiles that are computed at once

  bool operator==(const Efficiency&) const = default;
};

struct Provenance {
  std::string date;     ///< ISO
  std::string method;   ///< how the fitted and the measured figures were found
  std::string command;  ///< that repeats it

  bool operator==(const Provenance&) const = default;
};

/// Peaks by DType. A kind that lacks one computes in fp32 (and still moves the smaller elements).
using Peaks = std::array<std::optional<Sourced<FlopsPerSecond>>, kDTypeNames.size()>;

/// By DType: the highest model FLOPs utilisation of a training step that anybody published. Above 1
/// where kernels multiply less than is counted (Winograd's convolutions).
using PublishedMfu = std::array<std::optional<Sourced<double>>, kDTypeNames.size()>;

/// How fast an implementation of an attention is, as a factor of what the profile's rows and its
/// efficiency model say (`fused`).
struct AttentionSpeed {
  Sourced<double> forward, backward;

  bool operator==(const AttentionSpeed&) const = default;
};
using AttentionSpeeds = std::array<std::optional<AttentionSpeed>, kAttentionKernelNames.size()>;

/// Invariant: an fp32 peak; every figure within the range its comment says, extents >= 1.
struct Profile {
  std::string kind;
  std::string description;
  Sourced<Bytes> memory_capacity;
  Sourced<BytesPerSecond> bandwidth;
  /// Of NCCL, each of which has a multiprocessor (Efficiency::cores) for itself while it moves
  /// bytes.
  std::optional<Sourced<std::int64_t>> nccl_channels;
  std::optional<Sourced<Watts>> power;  ///< its limit, at which `sustained` is
  Peaks peaks;
  /// What matrix units keep up for seconds at the device's power limit, at most; where there is no
  /// figure, what kernels took in short bursts.
  Peaks sustained;
  PublishedMfu published_mfu;
  Efficiency efficiency;
  KernelTraits kernels;
  AttentionSpeeds attention;  ///< of those that are known; none of `fused` and `unfused`
  Provenance provenance;
  std::vector<Provenance> earlier;     ///< of profiles whose rows are among these, oldest first
  std::int64_t devices = 0;            ///< busy at once while measured; 0: differs, or nobody said
  std::string costs;                   ///< the file of `measured`, beside the profile; "" for none
  std::vector<MeasuredCost> measured;  ///< sorted by key, each key once
  std::vector<MeasuredMove> moves;     ///< sorted by kind and bytes, each of them once
  std::vector<KernelTable> tables;     ///< of each kernel and data type one at most

  bool operator==(const Profile&) const = default;
};

/// The profile without its measured rows: `costs` and `tables` name their files. Throws InputError
/// "FILE:LINE: ...", a line for each error.
Profile parse_profile(std::string_view toml, const std::string& file);

/// As parse_profile reads it back, equal to the bit. Measured rows: print_measured_costs and
/// print_kernel_rows.
std::string print_profile(const Profile& profile);

/// A file, with the rows of the files that it names. Throws InputError.
Profile read_profile(const std::string& file);

/// What read_profile reads: the file, and the files of rows that it names. Throws InputError.
std::vector<std::string> files_of_profile(const std::string& file);

/// A shipped profile by its kind, or else a file if the name ends in ".toml". Throws InputError.
Profile load_profile(const std::string& kind_or_path);

/// The text of that profile's file. Throws InputError.
std::string profile_text(const std::string& kind_or_path);

/// The kinds that come with Strata, in alphabetical order.
std::vector<std::string> shipped_profiles();

}  // namespace strata
