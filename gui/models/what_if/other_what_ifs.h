#pragma once

// Every what-if that a case may have (sim/case/what_ifs.h), for those that have no slider: what may
// stand for SELECTOR in its key on this case, and what its value may be. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "gui/document/document.h"
#include "sim/case/what_ifs.h"

namespace strata::gui {

bool has_selector(const WhatIfSpec& what_if);
/// "link.SELECTOR.bandwidth" and "inter": "link.inter.bandwidth".
std::string key_with(const WhatIfSpec& what_if, std::string_view selector);
/// What selects something on the case, the widest first; empty where the key has no selector.
std::vector<std::string> selectors_of(const WhatIfSpec& what_if, const Case& input);
/// Its two words, or examples of its values.
std::vector<std::string> values_of(const WhatIfSpec& what_if);

}  // namespace strata::gui
