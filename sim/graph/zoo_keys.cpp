#include "sim/graph/zoo_keys.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/text/split.h"

namespace strata {
namespace {

using Spec = TransformerSpec;
using Keys = std::vector<SpecKey>;

SpecKey size_key(std::string_view name, std::int64_t Spec::*member) {
  return {name, SpecKey::Count{member, true}};
}
SpecKey count_key(std::string_view name, std::int64_t Spec::*member) {
  return {name, SpecKey::Count{member}};
}

Keys of_blocks() {
  return {size_key("layers", &Spec::layers), size_key("hidden", &Spec::hidden),
          size_key("heads", &Spec::heads)};
}
Keys joined(Keys keys, const Keys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}
// Every family's last keys.
Keys with_ffn_and_dropout(const Keys& keys, const Keys& more = {}) {
  const Keys ffn = joined(keys, {count_key("ffn", &Spec::ffn)});
  return joined(joined(ffn, more), {{"dropout", SpecKey::Probability{&Spec::dropout}}});
}
Keys of_tokens() {
  return joined(of_blocks(), {size_key("seq", &Spec::seq), size_key("vocab", &Spec::vocab)});
}
Keys of_images() {
  return joined(of_blocks(), {size_key("image", &Spec::image), size_key("patch", &Spec::patch),
                              size_key("classes", &Spec::classes)});
}

/// The number that is all of the text.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

/// One key's value, as `text` has it.
struct ValueReader {
  std::string_view model, name, text;
  Spec& spec;

  [[noreturn]] void fail(std::string_view expected) const {
    throw InputError(
        fmt::format("model '{}': {} must be {}, not '{}'", model, name, expected, text));
  }
  void operator()(const SpecKey::Count& key) const {
    const auto value = number_in<std::int64_t>(text);
    if (!value || *value < 1 || *value > kMaxExtent) {
      fail(fmt::format("an integer from 1 to {}", kMaxExtent));
    }
    spec.*key.member = *value;
  }
  void operator()(const SpecKey::Real& key) const {
    const auto value = number_in<double>(text);
    if (!value || !(*value >= key.least && *value <= key.most)) {
      fail(fmt::format("a number from {} to {}", key.least, key.most));
    }
    spec.*key.member = *value;
  }
  void operator()(const SpecKey::Probability& key) const {
    const auto value = number_in<double>(text);
    if (!value || !(*value >= 0 && *value < 1)) fail("a number from 0 to below 1");
    spec.*key.member = *value;
  }
};

bool lacks(const Spec& spec, const SpecKey& key) {
  const auto* count = std::get_if<SpecKey::Count>(&key.field);
  return count != nullptr && count->required && spec.*count->member == 0;
}

}  // namespace

std::span<const SpecKey> gpt_keys() {
  static const Keys kKeys =
      with_ffn_and_dropout(of_tokens(), {count_key("positions", &Spec::positions)});
  return kKeys;
}

std::span<const SpecKey> llama_keys() {
  static const Keys kKeys =
      with_ffn_and_dropout(of_tokens(), {count_key("kv_heads", &Spec::kv_heads),
                                         {"rope_base", SpecKey::Real{&Spec::rope_base, 1, 1e12}}});
  return kKeys;
}

std::span<const SpecKey> bert_keys() {
  return gpt_keys();
}

std::span<const SpecKey> vit_keys() {
  static const Keys kKeys = with_ffn_and_dropout(of_images());
  return kKeys;
}

std::string names_of(std::span<const SpecKey> keys) {
  std::string names;
  for (const SpecKey& key : keys) {
    names += names.empty() ? "" : ", ";
    names += key.name;
  }
  return names;
}

void read_keys(std::string_view model, std::string_view family, std::span<const SpecKey> keys,
               std::string_view text, TransformerSpec& spec) {
  std::set<std::string_view> given;
  for (std::string_view item : split(text, ',')) {
    if (item.empty() && item.data() + item.size() == text.data() + text.size()) continue;
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const auto key =
        std::ranges::find_if(keys, [&](const SpecKey& known) { return known.name == name; });
    if (equals != std::string_view::npos && !given.insert(name).second) {
      throw InputError(fmt::format("model '{}': {} is given twice", model, name));
    }
    if (equals == std::string_view::npos || key == keys.end()) {
      throw InputError(
          fmt::format("model '{}': '{}' is no size of {}; allowed: {}, each as KEY=NUMBER", model,
                      item, family, names_of(keys)));
    }
    std::visit(ValueReader{model, name, item.substr(equals + 1), spec}, key->field);
  }
}

void check_spec(std::string_view model, std::span<const SpecKey> keys,
                const TransformerSpec& spec) {
  const auto missing =
      std::ranges::find_if(keys, [&](const SpecKey& key) { return lacks(spec, key); });
  if (missing != keys.end()) {
    throw InputError(fmt::format("model '{}': {} is missing", model, missing->name));
  }
  if (spec.hidden % spec.heads != 0) {
    throw InputError(fmt::format("model '{}': hidden {} is no multiple of heads {}", model,
                                 spec.hidden, spec.heads));
  }
  if (spec.heads % spec.key_heads() != 0) {
    throw InputError(fmt::format("model '{}': heads {} is no multiple of kv_heads {}", model,
                                 spec.heads, spec.kv_heads));
  }
  if (spec.patch > spec.image) {
    throw InputError(
        fmt::format("model '{}': patch {} is larger than image {}", model, spec.patch, spec.image));
  }
}

}  // namespace strata
