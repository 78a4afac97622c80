#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sim/profile/kernel_entries.h"
#include "sim/profile/move_table.h"
#include "sim/profile/profile.h"
#include "sim/text/file.h"
#include "sim/text/toml.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::int64_t kMaxExtentOfModel = std::int64_t{1} << 20;
// Bounds that keep every later time finite; no device that anybody simulates is beyond them.
constexpr double kMinShare = 1e-4;
constexpr double kMinRate = 1e6;
constexpr double kMaxLaunch = 1;
constexpr double kMaxHalf = 1e6;
constexpr double kMaxMfu = 10;
constexpr std::int64_t kMostDevices = std::int64_t{1} << 20;

double read_share(const Value& value) {
  return value.as_number(kMinShare, 1);
}
double read_part(const Value& value) {
  return value.as_number(0, 1);
}
double read_mfu(const Value& value) {
  return value.as_number(kMinShare, kMaxMfu);
}
double read_half(const Value& value) {
  return value.as_number(0, kMaxHalf);
}
std::int64_t read_extent(const Value& value) {
  return value.as_integer(1, kMaxExtentOfModel);
}

BytesPerSecond read_memory_bandwidth(const Value& value) {
  const BytesPerSecond rate = read_bandwidth(value);
  if (rate.value < kMinRate) value.fail_expected("at least 1 MB/s");
  return rate;
}
FlopsPerSecond read_peak(const Value& value) {
  const FlopsPerSecond rate = read_flops_rate(value);
  if (rate.value < kMinRate) value.fail_expected("at least 1 MFLOP/s");
  return rate;
}
Seconds read_launch(const Value& value) {
  const Seconds launch = read_seconds(value);
  if (launch.value > kMaxLaunch) value.fail_expected("at most 1 s");
  return launch;
}

// Reads one figure after another: { value = ..., source = "..." }. What is wrong is gathered.
class FigureReader {
 public:
  FigureReader(Table table, Diagnostics& errors) : table_(std::move(table)), errors_(errors) {}

  template <class T, class Read>
  void operator()(std::string_view key, Sourced<T>& figure, Read read) {
    errors_.attempt([&] { figure = take<T>(table_.required(key), read); });
  }
  template <class T, class Read>
  void operator()(std::string_view key, std::optional<Sourced<T>>& figure, Read read) {
    errors_.attempt([&] {
      if (const auto value = table_.optional(key)) figure = take<T>(*value, read);
    });
  }
  void finish() { table_.finish(errors_); }

 private:
  template <class T, class Read>
  Sourced<T> take(const Value& value, Read read) {
    Table table = value.as_table();
    Sourced<T> figure{read(table.required("value")), table.string("source")};
    table.finish();
    return figure;
  }

  Table table_;
  Diagnostics& errors_;
};

void read_device(Table table, Profile& profile, Diagnostics& errors) {
  FigureReader read(std::move(table), errors);
  read("memory_capacity", profile.memory_capacity, read_bytes);
  read("memory_bandwidth", profile.bandwidth, read_memory_bandwidth);
  read("nccl_channels", profile.nccl_channels, read_extent);
  read("power", profile.power, read_watts);
  read.finish();
}

void read_peaks(Table table, Peaks& peaks, Diagnostics& errors) {
  const auto fp32 = static_cast<std::size_t>(DType::fp32);
  FigureReader read(std::move(table), errors);
  read(kDTypeNames[fp32], peaks[fp32].emplace(), read_peak);
  for (std::size_t i = fp32 + 1; i < peaks.size(); ++i) {
    read(kDTypeNames[i], peaks[i], read_peak);
  }
  read.finish();
}

// Of types that may be left out.
template <class Figures, class Read>
void read_by_type(Table table, Figures& figures, Read read_one, Diagnostics& errors) {
  FigureReader read(std::move(table), errors);
  for (std::size_t i = 0; i < figures.size(); ++i) read(kDTypeNames[i], figures[i], read_one);
  read.finish();
}

void read_efficiency(Table table, Efficiency& efficiency, Diagnostics& errors) {
  FigureReader read(std::move(table), errors);
  read("launch", efficiency.launch, read_launch);
  read("memory", efficiency.memory, read_share);
  read("gemm", efficiency.gemm, read_share);
  read("winograd", efficiency.winograd, read_part);
  read("direct", efficiency.direct, read_share);
  read("half_tile", efficiency.half_tile, read_half);
  read("half_depth", efficiency.half_depth, read_half);
  read("tile_m", efficiency.tile_m, read_extent);
  read("tile_n", efficiency.tile_n, read_extent);
  read("split_k", efficiency.split_k, read_extent);
  read("cores", efficiency.cores, read_extent);
  read.finish();
}

bool read_one_of(Table& table, const char* key, std::string_view usual, std::string_view other) {
  const auto value = table.optional(key);
  if (!value) return false;
  const std::string& text = value->as_string();
  if (text == usual || text == other) return text == other;
  value->fail_expected(fmt::format("\"{}\" or \"{}\"", usual, other));
}

void read_kernels(Table table, KernelTraits& kernels, Diagnostics& errors) {
  errors.attempt([&] {
    if (read_one_of(table, "attention", "fused", "unfused"))
      kernels.attention = AttentionKernel::unfused;
  });
  errors.attempt([&] { kernels.keeps_masks = read_one_of(table, "dropout", "redrawn", "masks"); });
  table.finish(errors);
}

std::string print(const KernelTraits& kernels) {
  if (kernels == KernelTraits{}) return {};
  return fmt::format("\n[kernels]\nattention = \"{}\"\ndropout = \"{}\"\n", name(kernels.attention),
                     kernels.keeps_masks ? "masks" : "redrawn");
}

// What is faster than this is no attention of the same device.
constexpr double kMostSpeed = 100;
double read_speed(const Value& value) {
  return value.as_number(kMinShare, kMostSpeed);
}

bool may_be_faster(AttentionKernel kernel) {
  return kernel != AttentionKernel::fused && kernel != AttentionKernel::unfused;
}

void read_attention(Table table, AttentionSpeeds& speeds, Diagnostics& errors) {
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const auto kernel = static_cast<AttentionKernel>(i);
    if (!may_be_faster(kernel)) continue;
    errors.attempt([&] {
      auto own = table.optional_table(name(kernel));
      if (!own) return;
      FigureReader read(std::move(*own), errors);
      read("forward", speeds[i].emplace().forward, read_speed);
      read("backward", speeds[i]->backward, read_speed);
      read.finish();
    });
  }
  table.finish(errors);
}

// Each part of a merged profile has one, in the same words.
Provenance read_part(Table& table) {
  return {table.string("date"), table.string("method"), table.string("command")};
}

void read_provenance(Table table, Profile& profile) {
  profile.provenance = read_part(table);
  for (Table& part : table.tables("earlier")) {
    profile.earlier.push_back(read_part(part));
    part.finish();
  }
  table.finish();
}

template <class T>
std::string figure(std::string_view key, const Sourced<T>& figure, std::string_view value) {
  return fmt::format("{} = {{ value = {}, source = {} }}\n", key, value,
                     toml_quoted(figure.source));
}
std::string print(std::string_view key, const Sourced<Bytes>& f) {
  return figure(key, f, fmt::format("{}", f.value.value));
}
std::string print(std::string_view key, const Sourced<BytesPerSecond>& f) {
  return figure(key, f, toml_quoted(print_exact(f.value)));
}
std::string print(std::string_view key, const Sourced<Seconds>& f) {
  return figure(key, f, toml_quoted(print_exact(f.value)));
}
std::string print(std::string_view key, const Sourced<FlopsPerSecond>& f) {
  return figure(key, f, toml_quoted(fmt::format("{} FLOP/s", f.value.value)));
}
std::string print(std::string_view key, const Sourced<Watts>& f) {
  return figure(key, f, toml_quoted(fmt::format("{} W", f.value.value)));
}
std::string print(std::string_view key, const Sourced<double>& f) {
  return figure(key, f, fmt::format("{}", f.value));
}
std::string print(std::string_view key, const Sourced<std::int64_t>& f) {
  return figure(key, f, fmt::format("{}", f.value));
}

std::string print(const Provenance& p) {
  return fmt::format("date = {}\nmethod = {}\ncommand = {}\n", toml_quoted(p.date),
                     toml_quoted(p.method), toml_quoted(p.command));
}

std::string print_head(const Profile& profile) {
  std::string text = fmt::format("kind = {}\ndescription = {}\n", toml_quoted(profile.kind),
                                 toml_quoted(profile.description));
  if (!profile.costs.empty()) text += fmt::format("costs = {}\n", toml_quoted(profile.costs));
  if (profile.devices > 0) text += fmt::format("devices = {}\n", profile.devices);
  text += "\n[provenance]\n" + print(profile.provenance);
  for (const Provenance& part : profile.earlier) {
    text += "\n[[provenance.earlier]]\n" + print(part);
  }
  return text;
}

// What is known of some types; nothing where it is of none.
template <class Figures>
std::string print_by_type(std::string_view title, const Figures& figures) {
  std::string text;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (figures[i]) text += print(kDTypeNames[i], *figures[i]);
  }
  return text.empty() ? text : fmt::format("\n[{}]\n{}", title, text);
}

std::string print(const AttentionSpeeds& speeds) {
  std::string text;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (!speeds[i]) continue;
    text +=
        fmt::format("\n[attention.{}]\n{}{}", kAttentionKernelNames[i],
                    print("forward", speeds[i]->forward), print("backward", speeds[i]->backward));
  }
  return text;
}

std::string print_efficiency(const Efficiency& e) {
  return "\n[efficiency]\n" + print("launch", e.launch) + print("memory", e.memory) +
         print("gemm", e.gemm) + print("winograd", e.winograd) + print("direct", e.direct) +
         print("half_tile", e.half_tile) + print("half_depth", e.half_depth) +
         print("tile_m", e.tile_m) + print("tile_n", e.tile_n) + print("split_k", e.split_k) +
         print("cores", e.cores);
}

}  // namespace

Profile parse_profile(std::string_view toml, const std::string& file) {
  const Document document = parse_toml(toml, file);
  Table root = document.table();
  Profile profile;
  Diagnostics errors;
  errors.attempt([&] { profile.kind = root.string("kind"); });
  errors.attempt([&] { profile.description = root.string("description"); });
  errors.attempt([&] { profile.costs = root.string_or("costs", ""); });
  errors.attempt([&] { profile.devices = root.integer_or("devices", 0, 1, kMostDevices); });
  errors.attempt([&] { read_provenance(root.table("provenance"), profile); });
  errors.attempt([&] { read_device(root.table("device"), profile, errors); });
  errors.attempt([&] { read_peaks(root.table("peak"), profile.peaks, errors); });
  errors.attempt([&] {
    if (auto sustained = root.optional_table("sustained"))
      read_by_type(*sustained, profile.sustained, read_peak, errors);
  });
  errors.attempt([&] {
    if (auto published = root.optional_table("published_mfu"))
      read_by_type(*published, profile.published_mfu, read_mfu, errors);
  });
  errors.attempt([&] { read_efficiency(root.table("efficiency"), profile.efficiency, errors); });
  errors.attempt([&] {
    if (auto kernels = root.optional_table("kernels"))
      read_kernels(*kernels, profile.kernels, errors);
  });
  errors.attempt([&] {
    if (auto attention = root.optional_table("attention"))
      read_attention(*attention, profile.attention, errors);
  });
  errors.attempt([&] {
    if (auto moves = root.optional_table("moves")) profile.moves = read_moves(*moves, errors);
  });
  errors.attempt([&] { profile.tables = read_kernel_entries(root.tables("kernel"), errors); });
  root.finish(errors);
  errors.throw_if_any();
  return profile;
}

std::string print_profile(const Profile& profile) {
  std::string text = print_head(profile);
  text += "\n[device]\n" + print("memory_capacity", profile.memory_capacity) +
          print("memory_bandwidth", profile.bandwidth);
  if (profile.nccl_channels) text += print("nccl_channels", *profile.nccl_channels);
  if (profile.power) text += print("power", *profile.power);
  return text + print_by_type("peak", profile.peaks) +
         print_by_type("sustained", profile.sustained) +
         print_by_type("published_mfu", profile.published_mfu) +
         print_efficiency(profile.efficiency) + print(profile.kernels) + print(profile.attention) +
         print_moves(profile.moves) + print_kernel_entries(profile.tables);
}

namespace {

std::string beside(const std::string& file, const std::string& name) {
  return (std::filesystem::path(file).parent_path() / name).string();
}

}  // namespace

Profile read_profile(const std::string& file) {
  Profile profile = parse_profile(read_file(file), file);
  for (KernelTable& table : profile.tables) {
    const std::string rows = beside(file, table.file);
    table.rows = sorted_rows(parse_kernel_rows(table.kernel, read_file(rows), rows));
  }
  if (profile.costs.empty()) return profile;
  const std::string costs = beside(file, profile.costs);
  profile.measured = parse_measured_costs(read_file(costs), costs);
  return profile;
}

std::vector<std::string> files_of_profile(const std::string& file) {
  const Profile profile = parse_profile(read_file(file), file);
  std::vector<std::string> files = {file};
  if (!profile.costs.empty()) files.push_back(beside(file, profile.costs));
  for (const KernelTable& table : profile.tables) files.push_back(beside(file, table.file));
  return files;
}

}  // namespace strata
