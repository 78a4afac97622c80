#include "exec/cuda/run/cuda_backend.h"

#include <algorithm>

#include <fmt/format.h>

#include "exec/cuda/device/gpu_part.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/run/part_trial.h"
#include "exec/cuda/run/queue_times.h"
#include "exec/cuda/tensor/noise.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

std::vector<Stream*> streams_of(const std::vector<std::unique_ptr<Seat>>& seats) {
  std::vector<Stream*> streams;
  streams.reserve(seats.size());
  for (const auto& seat : seats) streams.push_back(seat ? &seat->stream() : nullptr);
  return streams;
}

bool is_shared(std::span<const int> gpus, int gpu) {
  return std::count(gpus.begin(), gpus.end(), gpu) > 1;
}

std::vector<std::unique_ptr<Seat>> make_seats(std::span<const int> gpus, const GpuParts& parts,
                                              Precision precision) {
  std::vector<std::unique_ptr<Seat>> seats;
  for (const GpuPart& part : parts.of_devices) {
    seats.push_back(std::make_unique<Seat>(part, precision));
  }
  for (int gpu : gpus) {
    seats.push_back(is_shared(gpus, gpu) ? nullptr : std::make_unique<Seat>(gpu, precision));
  }
  return seats;
}

// Another process's GPU, which nothing here asks for.
constexpr int kElsewhere = -1;

std::vector<int> gpus_of(const OneOfSeveral& own) {
  std::vector<int> gpus(own.names.size(), kElsewhere);
  gpus[own.device()] = own.gpu;
  return gpus;
}

std::vector<std::unique_ptr<Seat>> make_seats(const OneOfSeveral& own, Precision precision) {
  const std::size_t devices = own.names.size();
  std::vector<std::unique_ptr<Seat>> seats(2 * devices);
  seats[own.device()] = std::make_unique<Seat>(own.gpu, precision);
  seats[devices + own.device()] = std::make_unique<Seat>(own.gpu, precision);
  return seats;
}

std::vector<std::string> names_of(std::span<const int> gpus) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < gpus.size(); ++d) names.push_back(device_name(gpus, d));
  return names;
}

// The samples of a whole tensor that a box has, which lie together in a plain array.
Box samples_of(const Extents& whole_extents, const Box& box) {
  Box samples = whole(whole_extents);
  samples[Dim::n] = box[Dim::n];
  return samples;
}

}  // namespace

std::string device_name(std::span<const int> gpus, std::size_t device) {
  const int gpu = gpus[device];
  const auto on_gpu = std::count(gpus.begin(), gpus.end(), gpu);
  if (on_gpu == 1) return fmt::format("cuda{}", gpu);
  const auto before = gpus.begin() + static_cast<std::ptrdiff_t>(device);
  return fmt::format("cuda{}.{}", gpu, std::count(gpus.begin(), before, gpu));
}

thread_local std::uint32_t CudaBackend::entered_ = 0;

CudaBackend::CudaBackend(std::span<const int> gpus, Precision precision)
    : CudaBackend(gpus, tried_parts(gpus), precision) {}

CudaBackend::CudaBackend(std::span<const int> gpus, const GpuParts& parts, Precision precision)
    : type_(type_of(precision)),
      names_(names_of(gpus)),
      gpus_(gpus.begin(), gpus.end()),
      seats_(make_seats(gpus, parts, precision)),
      order_(streams_of(seats_)) {
  open_access(gpus);
  for (int gpu : gpus) memory_.push_back(std::make_unique<DeviceMemory>(gpu));
  for (std::size_t d = 0; d < gpus.size(); ++d) {
    for (std::size_t before = 0; before < d; ++before) {
      if (gpus[before] == gpus[d]) memory_[d]->share_with(*memory_[before]);
    }
  }
  enter(DeviceId(0));
}

CudaBackend::CudaBackend(const OneOfSeveral& own, Precision precision)
    : type_(type_of(precision)),
      names_(own.names),
      gpus_(gpus_of(own)),
      seats_(make_seats(own, precision)),
      order_(streams_of(seats_)) {
  for (int gpu : gpus_) memory_.push_back(std::make_unique<DeviceMemory>(gpu));
  enter(own.device);
}

// Nothing may be under way when memory goes.
CudaBackend::~CudaBackend() {
  try {
    finish();
  } catch (...) {  // said by whoever waited for the work
  }
}

std::string CudaBackend::device_name(DeviceId device) const {
  return names_[device()];
}

void CudaBackend::finish() {
  for (const auto& seat : seats_) {
    if (seat) seat->stream().finish();
  }
}

bool CudaBackend::is_done() {
  return std::all_of(seats_.begin(), seats_.end(),
                     [](const auto& seat) { return !seat || seat->stream().is_done(); });
}

std::uint32_t CudaBackend::stream_of(DeviceId device, strata::Stream of) const {
  const std::size_t stream = device() + (of == strata::Stream::links ? gpus_.size() : 0);
  if (seats_[stream]) return static_cast<std::uint32_t>(stream);
  throw InternalError(device_name(device) + " has no stream of its own to receive on");
}

std::uint32_t CudaBackend::sending_stream(DeviceId device) const {
  const bool has_two = seats_[gpus_.size() + device()] != nullptr;
  return stream_of(device, has_two ? strata::Stream::links : strata::Stream::device);
}

bool CudaBackend::reaches(DeviceId device, DeviceId other) const {
  return can_reach(gpus_[device()], gpus_[other()]);
}

std::unique_ptr<Stopwatch> CudaBackend::stopwatch(bool recorded) {
  return std::make_unique<QueueTimes>(*this, recorded);
}

void CudaBackend::code_numbers() {
  for (const auto& seat : seats_) {
    if (seat) seat->code_numbers();
  }
}

void CudaBackend::fill(const Region& to) {
  fill_with_noise(to.data, volume(to.box), type_, stream());
}

void CudaBackend::fill_values(float* to, std::int64_t count) {
  fill_with_noise(to, count, Type::fp32, stream());
}

std::shared_ptr<void> CudaBackend::host_memory(std::int64_t bytes) {
  return cuda::host_memory(bytes);
}

void CudaBackend::begin_step(DeviceId device, const StepContext& context) {
  seats_[device()]->begin_step(context);
}

std::unique_ptr<Kernel> CudaBackend::make_kernel(DeviceId device, const ShardSpec& spec) {
  return cuda::make_kernel(*seats_[device()], spec);
}

void* CudaBackend::allocate(DeviceId device, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  return memory_[device()]->take(bytes, entered_, order_);
}

// Who gives memory back may be on its way out of an error, which must not be replaced: what the GPU
// can't tell the end of is given to nobody any more.
void CudaBackend::release(DeviceId device, void* memory) try {
  std::vector<Ticket> users;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t stream = 0; stream < seats_.size(); ++stream) {
      if (seats_[stream]) users.push_back(order_.mark(stream));
    }
  }
  release_after(device, memory, std::move(users));
} catch (const EnvironmentError&) {  // said by whoever waits for the work
}

void CudaBackend::give_back(DeviceId device, void* memory) try {
  std::vector<Ticket> users;
  {
    const std::lock_guard lock(mutex_);
    users.push_back(order_.mark(static_cast<std::uint32_t>(device())));
  }
  release_after(device, memory, std::move(users));
} catch (const EnvironmentError&) {
}

std::uint64_t CudaBackend::memory_fingerprint() {
  const std::lock_guard lock(mutex_);
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;  // so that devices that change alike differ
  std::uint64_t all = 0;
  for (const auto& memory : memory_) {
    all = all * kOdd + (memory ? memory->fingerprint() : 0);
  }
  return all;
}

std::uint64_t CudaBackend::memory_losses() {
  const std::lock_guard lock(mutex_);
  std::uint64_t losses = 0;
  for (const auto& memory : memory_) losses += memory ? memory->returns() : 0;
  for (const auto& seat : seats_) losses += seat ? seat->moves() : 0;
  return losses;
}

void CudaBackend::release_after(DeviceId device, void* memory, std::vector<Ticket> users) {
  const std::lock_guard lock(mutex_);
  memory_[device()]->give_back(memory, std::move(users));
}

void CudaBackend::clear(const Region& to) {
  cuda::clear(to.data, bytes(to.box), stream());
}

void CudaBackend::copy(const Region& to, const Region& from, const Box& box) {
  copy_box(to, from, box, type_, stream());
}

void CudaBackend::add(const Region& to, const Region& from, const Box& box) {
  add_box(to, from, box, type_, stream());
}

void CudaBackend::sum(const Region& to, std::span<const Region> from) {
  sum_whole(to, from, type_, stream());
}

void CudaBackend::copy_values(float* to, const float* from, std::int64_t count) {
  cuda::copy(to, from, count * static_cast<std::int64_t>(sizeof(float)), stream());
}

void CudaBackend::add_values(float* to, const float* from, std::int64_t count) {
  cuda::add_values(to, from, count, stream());
}

void CudaBackend::combine(Combination how, float* to, std::span<const float* const> parts,
                          std::span<const std::int64_t> counts, std::int64_t begin,
                          std::int64_t end) {
  combine_values(how, to, parts, counts, begin, end, stream());
}

void CudaBackend::update(const Operands& operands, std::int64_t count) {
  update_parameters(operands, count, *seats_[entered_]);
}

float* CudaBackend::staging(std::int64_t values) {
  const auto size = static_cast<std::int64_t>(sizeof(float));
  return static_cast<float*>(seats_[entered_]->scratch(values * size));
}

void CudaBackend::pack(float* to, const Region& from, const Box& box) {
  float* const staged = staging(volume(box));
  pack_box(staged, box, from, box, type_, stream());
  copy_values(to, staged, volume(box));
  stream().finish();
}

void CudaBackend::unpack(const Region& to, const float* from, const Box& box) {
  float* const staged = staging(volume(box));
  copy_values(staged, from, volume(box));
  unpack_box(to, staged, box, box, type_, stream());
}

void CudaBackend::load(const Region& to, const float* plain, const Extents& whole) {
  const Box samples = samples_of(whole, to.box);
  const std::int64_t of_sample = volume(whole) / whole[Dim::n];
  float* const staged = staging(volume(samples));
  copy_values(staged, plain + samples[Dim::n].begin * of_sample, volume(samples));
  unpack_box(to, staged, samples, to.box, type_, stream());
}

void CudaBackend::store(float* plain, const Extents& whole, const Region& from) {
  std::vector<float> held(static_cast<std::size_t>(volume(from.box)));
  pack(held.data(), from, from.box);
  for (std::int64_t i = 0; i < volume(from.box); ++i) {
    const Extents size = extents(from.box);
    std::int64_t rest = i, place = 0, step = 1;
    for (Dim dim : {Dim::w, Dim::h, Dim::d, Dim::c, Dim::n}) {
      place += (from.box[dim].begin + rest % size[dim]) * step;
      rest /= size[dim], step *= whole[dim];
    }
    plain[place] = held[static_cast<std::size_t>(i)];
  }
}

}  // namespace strata::cuda
