#include "sim/graph/zoo_families.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/zoo_keys.h"
#include "sim/graph/zoo_members.h"
#include "sim/graph/zoo_transformer.h"
#include "sim/text/split.h"

namespace strata {
namespace {

struct Family {
  std::string_view name;
  Graph (*build)(std::string_view name, std::int64_t batch, const TransformerSpec& spec);
  TransformerSpec defaults;
  std::span<const SpecKey> keys;
};

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = {
      {"gpt", build_decoder, {.causal = true, .learned_positions = true, .tied = true}, gpt_keys()},
      {"llama",
       build_decoder,
       {.norm = NormKind::rms,
        .bias = BiasPlace::none,
        .activation = FeedForward::swiglu,
        .causal = true,
        .rope_base = 10000},
       llama_keys()},
      {"bert", build_bert, {.norm_place = NormPlace::sums, .epsilon = 1e-12}, bert_keys()},
      {"vit", build_vit, {.epsilon = 1e-6}, vit_keys()},
      {"t5",
       build_t5,
       {.norm = NormKind::rms,
        .epsilon = 1e-6,
        .bias = BiasPlace::none,
        .activation = FeedForward::relu,
        .score_scale = 1,
        .buckets = 32,
        .tied = true},
       t5_keys()},
      {"whisper", build_whisper, {.bias = BiasPlace::all_but_keys}, whisper_keys()},
  };
  return kFamilies;
}

std::string_view head_of(std::string_view text) {
  return text.substr(0, text.find(':'));
}
std::string_view sizes_of(std::string_view text) {
  return text.substr(std::min(text.size(), head_of(text).size() + 1));
}

/// The family of that name, or that of a member; null where there is none.
const Family* find_family(std::string_view name) {
  const ZooMember* const member = find_member(name);
  const std::string_view wanted = member != nullptr ? member->family : name;
  const auto it =
      std::ranges::find_if(families(), [&](const Family& family) { return family.name == wanted; });
  return it == families().end() ? nullptr : &*it;
}

bool has_tokens(const Family& family) {
  return std::ranges::any_of(family.keys, [](const SpecKey& key) { return key.name == "seq"; });
}
template <class Wanted>
std::string names_of(const Wanted& wanted) {
  std::string names;
  for (const Family& family : families()) {
    if (!wanted(family)) continue;
    names += names.empty() ? "" : ", ";
    names += family.name;
  }
  return names;
}

}  // namespace

std::span<const ZooEntry> family_members() {
  static const std::vector<ZooEntry> kEntries = [] {
    std::vector<ZooEntry> entries;
    for (const ZooMember& member : zoo_members()) entries.push_back(member.entry);
    return entries;
  }();
  return kEntries;
}

bool in_family(std::string_view text) {
  const std::string_view head = head_of(text);
  return find_member(head) != nullptr || (find_family(head) != nullptr && head != text);
}

Graph build_of_family(std::string_view text, std::int64_t batch) {
  const std::string_view head = head_of(text);
  const Family& family = *find_family(head);
  TransformerSpec spec = family.defaults;
  const auto read = [&](std::string_view keys) {
    read_keys(text, family.name, family.keys, keys, spec);
  };
  if (const ZooMember* const member = find_member(head)) read(member->common), read(member->sizes);
  read(sizes_of(text));
  check_spec(text, family.keys, spec);
  return family.build(text, batch, spec);
}

std::string with_tokens(std::string_view model, std::int64_t tokens) {
  const std::string_view head = head_of(model);
  const Family* const family = find_family(head);
  if (family == nullptr || !has_tokens(*family)) {
    throw InputError(fmt::format("model '{}' has no number of tokens; allowed: a member of {}",
                                 model, names_of(has_tokens)));
  }
  std::string sizes;
  for (const std::string& item : split_at_commas(sizes_of(model))) {
    if (!item.empty() && !item.starts_with("seq=")) sizes += item + ",";
  }
  return fmt::format("{}:{}seq={}", head, sizes, tokens);
}

std::string family_names() {
  return names_of([](const Family&) { return true; });
}

}  // namespace strata
