#pragma once

// Which settings (sim/scenario/settings.h) a request for a case is made of: what reads, prints or
// compares requests goes through them here. What-ifs, which are no settings, come besides. Pure;
// thread-safe.

#include <vector>

#include "sim/case/predict.h"
#include "sim/scenario/settings.h"

namespace strata {

/// Calls visit(key, value) for each, `value` being the request's own.
template <class Request, class Visit>
requires std::same_as<std::remove_const_t<Request>, CaseRequest>
void each_setting(Request& request, const Visit& visit) {
  visit("model", request.model);
  visit("dim", request.dims);
  visit("seq", request.seq);
  visit("cluster", request.cluster);
  each_setting(request.training, visit);
  visit("as", request.framework);
  visit("profile", request.profiles);
  visit("allow_unsupported", request.unsupported);
}

/// As texts: each profile by itself, nothing that is not set, then each what-if as `set`,
/// "KEY=VALUE".
std::vector<Setting> settings_of(const CaseRequest& request);

}  // namespace strata
