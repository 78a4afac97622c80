#include "sim/importers/onnx/names.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/importers/onnx/newer_fields.h"

namespace strata {
namespace {

constexpr std::size_t kLongestName = 100;

bool is_letter_or_digit(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
}

// PyTorch repeats a sequence's name in those of its parts: "features/features.0".
std::string without_repeats(std::string_view path) {
  std::string result;
  while (true) {
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return result.append(path);
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    const bool repeated = path.size() > part.size() && path.starts_with(part) &&
                          (path[part.size()] == '.' || path[part.size()] == '/');
    if (!part.empty() && !repeated) result.append(part).append("_");
  }
}

// "['', 'features', 'features.18', 'hardtanh_34']": before the operation's own name the module's.
std::string last_scope(std::string_view scopes) {
  std::vector<std::string_view> names;
  for (std::size_t at = scopes.find('\''); at != std::string_view::npos;) {
    const std::size_t end = scopes.find('\'', at + 1);
    if (end == std::string_view::npos) break;
    names.push_back(scopes.substr(at + 1, end - at - 1));
    at = scopes.find('\'', end + 1);
  }
  return names.size() < 2 ? "" : std::string(names[names.size() - 2]);
}

}  // namespace

std::string shown(std::string_view name, std::size_t longest) {
  std::string text(name.substr(0, longest));
  std::replace_if(
      text.begin(), text.end(), [](char ch) { return ch < 0x20 || ch > 0x7e; }, '?');
  return name.size() > longest ? text + "..." : text;
}

std::string shown(const onnx::NodeProto& node, int number) {
  const std::string name = node.name().empty() ? fmt::format("#{}", number) : shown(node.name());
  return fmt::format("node {} ({})", name, shown(node.op_type()));
}

std::string layer_name(std::string_view name) {
  std::string text = without_repeats(name.substr(0, kLongestName));
  std::replace_if(
      text.begin(), text.end(), [](char ch) { return !is_letter_or_digit(ch) && ch != '-'; }, '_');
  text.erase(0, text.find_first_not_of('_'));
  return text;
}

std::string module_of(const onnx::NodeProto& node) {
  constexpr int kMetadata = 9;  // of a NodeProto
  constexpr std::string_view kWeight = ".weight";
  for (const std::string& bytes : messages_in(node, kMetadata)) {
    onnx::StringStringEntryProto entry;
    if (!entry.ParseFromString(bytes) || entry.key() != "pkg.torch.onnx.name_scopes") continue;
    for (const std::string& input : node.input()) {
      if (input.ends_with(kWeight)) return input.substr(0, input.size() - kWeight.size());
    }
    return last_scope(entry.value());
  }
  return "";
}

std::string LayerNames::take(const std::string& wanted) {
  const auto [at, is_new] = taken_.try_emplace(wanted, 2);
  if (is_new) return wanted;
  std::string name;
  do {
    name = fmt::format("{}_{}", wanted, at->second++);
  } while (!taken_.try_emplace(name, 2).second);
  return name;
}

void LayerNames::give_back(const std::string& wanted, const std::string& name) {
  taken_.erase(name);
  if (name != wanted) --taken_.at(wanted);
}

}  // namespace strata
