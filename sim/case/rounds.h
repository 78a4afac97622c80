#pragma once

// A case whose batch is cut in time: each round computes a micro-batch of every data-parallel
// group. How large a round is depends on the strategy, so a case is cut for one. Pure; thread-safe.

#include <cstdint>
#include <string>

#include "sim/case/case.h"
#include "sim/strategy/schedule.h"

namespace strata {

/// The text of the setting `schedule`: empty, a kind's name, or a file that ends in .csv. Throws
/// InputError.
ScheduleChoice read_schedule_choice(const std::string& text);

/// What the training says of time, to a case whose step has `batch` samples. Throws InputError.
void cut_in_time(const Training& training, std::int64_t batch, Case& input);

/// The order in which the strategy's stages compute rounds: a kind's name, or a file's. "" where
/// nothing is in turn.
std::string schedule_used(const Case& input, const Strategy& strategy, std::uint32_t rounds);

/// How many parts of the batch the strategy computes at once: the largest degree in n.
std::int64_t data_parallel_groups(const Graph& graph, const Strategy& strategy);

/// Whether `groups` micro-batches divide the batch, into no more and no larger rounds than are
/// allowed; of a case without micro-batches always.
bool divide_in_rounds(const Case& input, std::int64_t groups);

/// Throws InputError where a round of so many groups is more than one graph holds.
void check_round(const Case& input, std::int64_t groups);

/// The case of one round of a batch that has several (Case::rounds): the same case where it has no
/// micro-batch. Throws InputError where `groups` micro-batches do not divide the batch.
Case in_rounds(const Case& input, std::int64_t groups);
inline Case in_rounds(const Case& input, const Strategy& strategy) {
  return in_rounds(input, data_parallel_groups(input.graph, strategy));
}
/// Of the most data-parallel groups that are no more than the devices and divide the batch: what a
/// search reckons with before it knows its strategies. Throws InputError where there are none.
Case in_largest_rounds(const Case& input);

}  // namespace strata
