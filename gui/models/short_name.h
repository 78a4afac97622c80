#pragma once

// Names where there is little room for them. Layers that stand beside each other begin alike
// ("inception_4a_branch1_conv", "inception_4a_branch2_conv"): what they share gives way first, in
// whole parts, so that what tells them apart stays. Parts end at '_', '.' and '/'. Pure.

#include <QFontMetricsF>
#include <QString>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::gui {

/// With how many letters, in whole parts, both names begin. A number is no part of its own: of
/// "features_0" and "features_2" nothing is shared; nor is what stands behind a blank: "4.96 ms".
std::size_t shared_prefix(std::string_view a, std::string_view b);

/// By name: what it shares with the one before it or with the one after it, whichever is more.
std::vector<std::size_t> shared_prefixes(const std::vector<std::string>& names);

/// The whole name where it fits; else without as few of the parts that are shared as it takes, a
/// "…" in their place, but for the last number among them: "…3…norm" of "blocks_3_mlp_norm". Where
/// that is not enough, it is without all of them, and too long still.
QString shortened(const QString& name, std::size_t shared,
                  const std::function<bool(const QString&)>& fits);

/// In so much room, in the font of `metrics`: shortened(), and then elided in the middle.
QString elided_name(const QString& name, std::size_t shared, double width,
                    const QFontMetricsF& metrics);

}  // namespace strata::gui
