#pragma once

// Sections that set cases side by side: two strategies of one store, or two stores.

#include <string>
#include <utility>

#include "sim/report/document.h"
#include "sim/store/store.h"

namespace strata {

/// Cases that are equal but for the strategy. `scenario` as for Store::query.
Section compared_strategies(Store& store, const std::string& scenario,
                            const std::pair<std::string, std::string>& strategies);

/// Cases of equal settings; those that one store alone has are counted in the text. Throws
/// InputError where `other` has no such scenario.
Section compared_stores(Store& store, const std::string& other, const std::string& scenario);

}  // namespace strata
