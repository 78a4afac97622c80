#pragma once

// How frameworks run a step, as named settings and what-ifs: what they do beside the plan, with the
// source of each (docs/frameworks.md). Those that come with Strata are profiles/frameworks/*.toml;
// a file of one's own has the same form. Pure; thread-safe.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/case/predict.h"

namespace strata {

/// Larger than the gradients of any network: all are summed at once.
inline constexpr Bytes kOneBucket{std::int64_t{1} << 50};

struct FrameworkEntry {
  std::string key, value;
  std::string source;     ///< where it is from; may be empty
  std::string fp32 = {};  ///< what a step in fp32 or tf32 has in place of `value`; empty: the same
  bool of_experts = false;  ///< only networks with experts have it
  bool operator==(const FrameworkEntry&) const = default;
};

struct Framework {
  std::string name = std::string(kNoFramework);
  std::string description = {};
  std::vector<FrameworkEntry> settings = {};  ///< in place of what nobody said
  std::vector<FrameworkEntry> what_ifs = {};  ///< before those that somebody asked for
};

/// Those that come with Strata; and what `as` may be besides a file: "none" and their names.
std::vector<Framework> shipped_frameworks();
std::vector<std::string> framework_names();

/// A name, "none" or a file, which has none of these names. Throws InputError "FILE:LINE: ...",
/// everything that is wrong.
Framework load_framework(const std::string& name_or_file);
Framework parse_framework(std::string_view toml, const std::string& file);

/// Chooses what the request's framework does otherwise of a case's settings where nobody did:
/// `given` says so of a setting's key.
void choose_settings(CaseRequest& request, const std::function<bool(std::string_view)>& given);

/// Changes what the framework does otherwise beside its settings. What it says of layers or experts
/// that the network has not, of an attention that the profiles do not know and of a dispatch that
/// the cluster does not know, is left out; so is how fast its attention is where `asked` has
/// another one. Throws InputError for what does not suit the case.
void run_as(const Framework& framework, Case& input, const WhatIfs& asked = {});

}  // namespace strata
