#include "sim/case/case_settings.h"

namespace strata {

std::vector<Setting> settings_of(const CaseRequest& request) {
  std::vector<Setting> settings;
  const auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) settings.push_back({std::string(key), text});
  };
  each_setting(request, [&](std::string_view key, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const std::vector<std::string>&>) {
      for (const std::string& text : value) add(key, text);
    } else {
      add(key, print_setting(key, value));
    }
  });
  for (const auto& [key, value] : request.sets) add(what_if_setting().key, key + "=" + value);
  return settings;
}

}  // namespace strata
