#pragma once

// Parts that several documents share. All of sim/json makes JSON of values, with the keys of the
// documented interface: the keys keep their order, a time is in seconds, a size in bytes, a share
// of 1, and what is not known is null. Pure; thread-safe.

#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim/cost/eq1.h"
#include "sim/geometry/geometry.h"
#include "sim/result/result.h"
#include "sim/strategy/strategy.h"
#include "sim/timeline/execution.h"

namespace strata {

/// The text is indented by two and ends without a newline. What is not UTF-8, as names of files may
/// be, becomes U+FFFD.
std::string json_text(const nlohmann::ordered_json& document);

/// A value is a number or a string, and null where there is none.
nlohmann::ordered_json field_json(const Field& field);
/// Columns of a result stand under their keys, and are null where it has none.
nlohmann::ordered_json columns_json(const CaseResult& result,
                                    std::initializer_list<std::string_view> keys);

/// Adds those of the group that the document has not, under their keys.
void add_columns(ColumnGroup group, const CaseResult& result, nlohmann::ordered_json& json);

/// {"n": 1, "c": 64, ...}.
nlohmann::ordered_json extents_json(const Extents& extents);

/// A layer's terms of Eq. 1 are {"compute_seconds", "transfer_seconds", "sync_seconds"}.
nlohmann::ordered_json times_json(const LayerTerms& terms);
/// The terms follow "config", which says how the layer is cut.
nlohmann::ordered_json terms_json(const Degrees& degrees, const LayerTerms& terms);

/// {"products": 3, "first_status": "..."}; the status is null where there are no such products.
nlohmann::ordered_json plain_loops_json(const PlainLoops& loops);

}  // namespace strata
