#pragma once

// The settings of a document (sim/scenario/settings.h) as texts, by their keys: what the window's
// fields show and commit. A setting that is not listed here is not of predictions or searches.
// Pure, but for files that a text names; thread-safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gui/document/document.h"
#include "sim/case/case_loader.h"
#include "sim/scenario/settings.h"

namespace strata::gui {

/// What a setting is about, which decides where its field stands.
enum class SettingGroup : std::uint8_t { network, training, costs, simulation, search };

/// The keys of the group, in the order of fields.
std::vector<std::string_view> keys_of(SettingGroup group);

/// The value as with_setting() takes it; "" where it is not set.
std::string setting_text(const Document& document, std::string_view key);
/// That of a new document.
std::string usual_setting_text(std::string_view key);
/// Whether a document may be without it, so that an empty field means something.
bool may_be_unset(std::string_view key);

/// With another value, as an edit: what goes along with it changes, too, as the settings that a
/// framework brings (`as`). An empty text is the usual value. Throws InputError for what is none of
/// its values.
Document with_setting(const Document& document, std::string_view key, const std::string& text);
/// Whether check_setting() has to look into a file, or load the network or the cluster.
bool needs_check(std::string_view key, const std::string& text);
/// Throws InputError where what the document names by that setting is not there, or is broken.
void check_setting(const Document& document, std::string_view key, CaseLoader& loader);

/// Those of the keys that are not the usual ones, as options with a blank before each:
/// " --sync tree --jitter 1".
std::string setting_options(const Document& document, const std::vector<std::string_view>& keys);

/// What people call it: "Micro batch", "ZeRO".
std::string setting_title(std::string_view key);
/// A text of the library for the window, which shows settings by their titles: without backticks.
std::string in_window_words(std::string_view text);

}  // namespace strata::gui
