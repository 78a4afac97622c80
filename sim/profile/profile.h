#pragma once

// What is known of one kind of device: its constants, the efficiency model that turns them into
// times, and measured costs of layer shards. Every figure says where it comes from. Text in
// profiles/*.toml (docs/profiles.md is the reference of the format). Immutable; thread-safe.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/graph/phase.h"  // DType, Phase (they moved there: the plan needs them too)

namespace strata {

}  // namespace strata
