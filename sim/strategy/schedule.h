#pragma once

// The order in which each stage of a pipeline computes its instances: a chunk's forward or backward
// pass of one round. A schedule is nothing else; what waits for what follows from the layers.
//
// gpipe: Huang et al., 2019. 1f1b: PipeDream-Flush, Narayanan et al., 2021a. interleaved: Narayanan
// et al., 2021b. zb-h1, zb-v: Qi et al., 2023 and 2024, which take the gradients of parameters by
// themselves, where a stage would wait. Pure; thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

enum class ScheduleKind : std::uint8_t { gpipe, one_f_one_b, interleaved, zb_h1, zb_v };
std::string_view name(ScheduleKind kind);
/// Of these, between commas.
std::string schedule_names();
std::optional<ScheduleKind> schedule_kind(std::string_view name);

/// Of a chunk's layers: their outputs, or the gradients of their inputs, of their parameters, or of
/// both.
enum class Pass : std::uint8_t { forward, backward, backward_inputs, backward_weights };
inline constexpr std::string_view kPassLetters = "FBIW";  ///< in texts, by Pass

struct Instance {
  std::uint32_t chunk = 0, round = 0;
  Pass pass = Pass::forward;
  bool beside = false;  ///< computes where the stage's instance before it waits, too
  bool operator==(const Instance&) const = default;
};
/// As in a file: "2F0", of chunk 2 and round 0; F, B, I and W. Not whether it is beside another.
std::string text(const Instance& instance);

/// Chunks of layers, in the graph's order, and the stages that hold them.
struct Pipeline {
  std::size_t stages = 1;
  std::vector<std::uint32_t> stage_of = {0};                ///< by chunk
  std::vector<std::vector<std::uint32_t>> feeds_on = {{}};  ///< by chunk: whose outputs it reads

  std::size_t chunks() const { return stage_of.size(); }
};

/// Whether a stage computes a forward pass beside the backward pass before it: while one waits for
/// tokens to come to experts, the other computes.
enum class PassOverlap : std::uint8_t { none, experts };
inline constexpr std::array<std::string_view, 2> kPassOverlapNames = {"none", "experts"};
inline std::string_view name(PassOverlap overlap) {
  return kPassOverlapNames[static_cast<std::size_t>(overlap)];
}

/// By stage.
using Schedule = std::vector<std::vector<Instance>>;

/// Throws InputError where the pipeline or its rounds do not suit it.
/// With `overlap`, 1f1b keeps up to twice as many rounds' activations.
Schedule schedule(ScheduleKind kind, const Pipeline& pipeline, std::uint32_t rounds,
                  PassOverlap overlap = PassOverlap::none);

/// The usual one of a pipeline: one chunk a stage 1f1b, several interleaved or, where they lie in a
/// V, zb-v.
ScheduleKind usual_schedule(const Pipeline& pipeline);

/// A line for each stage, its instances between commas, as PyTorch's pipeline schedules are kept:
/// "0F0,0B0", and "(0B0;0F1)OVERLAP_F_B" for those that compute beside one another. Empty fields
/// and lines that begin with # say nothing. Throws InputError with the file and the line.
Schedule read_schedule(const std::string& file);

/// What a case asks for: a kind, an order of its own, or the usual one of its pipeline.
struct ScheduleChoice {
  std::optional<ScheduleKind> kind;
  Schedule own;           ///< where it has stages
  std::string file = {};  ///< that has them
  PassOverlap overlap = PassOverlap::none;
  bool is_given() const { return kind.has_value() || !own.empty(); }
  bool operator==(const ScheduleChoice&) const = default;
};

/// All instances of so many rounds in one order. Throws InputError where the choice does not suit
/// the pipeline.
std::vector<Instance> instances(const ScheduleChoice& choice, const Pipeline& pipeline,
                                std::uint32_t rounds);

/// Throws InputError unless each chunk of each stage has all passes of all rounds once.
void check_schedule(const Schedule& schedule, const Pipeline& pipeline, std::uint32_t rounds);

/// All instances in one order that keeps every stage's, in which each comes after all that it waits
/// for. Throws InputError that says which stages wait for one another where there is none.
std::vector<Instance> in_one_order(const Schedule& schedule, const Pipeline& pipeline);

}  // namespace strata
