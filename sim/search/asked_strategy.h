#pragma once

// The strategy that somebody asks for by name: one of the usual ones, one that is searched for, a
// hybrid or a file. Thread-safe.

#include <string>
#include <variant>

#include "sim/case/predict.h"
#include "sim/strategy/search_space.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// data, model, owt, hybrid:..., eq1, optimal, or a file where it ends in .json; checked against
/// the case.
Strategy load_strategy(const std::string& strategy, const Case& input,
                       const SearchOptions& space = {});

/// A strategy by one of these names, or itself.
using AskedStrategy = std::variant<std::string, Strategy>;
const std::string& name_of(const AskedStrategy& asked);
/// As load_strategy(); throws InputError for a strategy that does not fit the case, too.
Strategy resolve(const AskedStrategy& asked, const Case& input);

}  // namespace strata
