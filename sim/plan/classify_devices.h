#pragma once

// Devices that do the same at the same time, so that one of each class stands for all.
//
// The classes are an equitable partition of the devices, found by colour refinement (Paige and
// Tarjan, 1987; McKay and Piperno, 2014): devices of one colour have shards of the same sizes,
// belong to groups of the same colours, read as much from as many devices of each colour, in their
// own domain and in others, and stand in domains whose devices and links have the same colours in
// turn. Devices of one domain are alike only where they may be exchanged (domain_symmetry.h), and
// where each group that sums something still has the devices that stand for its members. A flow
// from a device of one class to one of another then takes links of the same classes wherever it
// begins, and every link of a class is crossed by as many flows of each kind; max-min fair rates,
// and so all times, are equal within a class. Colours are 64-bit sums of mixed bits: that two
// differ and look alike is as likely as 1 in 10^12 for thousands of devices.
//
// A straggler, an uneven part, a slower link or a parameter server splits classes and nothing else.
// Where nothing is known of the cluster's domains (domain_symmetry.h), or devices copy for
// themselves, every device is a class of its own. Immutable; thread-safe.

#include <cstdint>
#include <span>

#include "sim/plan/device_classes.h"
#include "sim/plan/lower.h"
#include "sim/step/step.h"

namespace strata {

/// `cost_models`: by device, a number for each; none where all devices of a kind have one.
DeviceClasses find_device_classes(const Graph& graph, const Cluster& cluster,
                                  const Strategy& strategy, const Step& step,
                                  const LowerOptions& options,
                                  std::span<const std::uint32_t> cost_models, LoweringMemo& memo);

}  // namespace strata
