#include "sim/graph/zoo_families.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/graph/zoo_transformer.h"
#include "sim/text/split.h"

namespace strata {
namespace {

/// A size that a text may give; one that must be known has no default.
struct SizeKey {
  std::string_view name;
  std::int64_t TransformerSize::*value;
  bool optional = false;
};

constexpr std::string_view kDropout = "dropout";  // of any family

struct Family {
  std::string_view name;
  Graph (*build)(std::string_view name, std::int64_t batch, const TransformerSize& size);
  TransformerSize defaults;
  std::vector<SizeKey> keys;
};

const std::vector<Family>& families() {
  using Size = TransformerSize;
  static const std::vector<SizeKey> kTokens = {
      {"layers", &Size::layers}, {"hidden", &Size::hidden}, {"heads", &Size::heads},
      {"seq", &Size::seq},       {"vocab", &Size::vocab},   {"ffn", &Size::ffn, true}};
  const auto with = [](std::vector<SizeKey> keys, SizeKey more) {
    keys.push_back(more);
    return keys;
  };
  static const std::vector<Family> kFamilies = {
      {"gpt", build_gpt, {}, with(kTokens, {"positions", &Size::positions, true})},
      {"llama", build_llama, {.rotary = 10000}, with(kTokens, {"kv_heads", &Size::kv_heads, true})},
      {"bert", build_bert, {}, with(kTokens, {"positions", &Size::positions, true})},
      {"vit",
       build_vit,
       {},
       {{"layers", &Size::layers},
        {"hidden", &Size::hidden},
        {"heads", &Size::heads},
        {"image", &Size::image},
        {"patch", &Size::patch},
        {"classes", &Size::classes},
        {"ffn", &Size::ffn, true}}},
  };
  return kFamilies;
}

struct NamedSize {
  ZooEntry entry;
  std::string_view family;
  TransformerSize size;
};

TransformerSize gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                    std::int64_t seq = 1024) {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .seq = seq,
          .vocab = 50257,
          .positions = seq};
}
TransformerSize llama2(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                       std::int64_t kv_heads, std::int64_t ffn) {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = kv_heads,
          .ffn = ffn,
          .seq = 4096,
          .vocab = 32000,
          .rotary = 10000};
}
TransformerSize llama3(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                       std::int64_t ffn) {
  TransformerSize size = llama2(layers, hidden, heads, 8, ffn);
  size.seq = 8192;
  size.vocab = 128256;
  size.rotary = 500000;
  return size;
}
TransformerSize bert(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .seq = 512,
          .vocab = 30522,
          .positions = 512};
}
TransformerSize vit(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .image = 224,
          .patch = 16,
          .classes = 1000};
}

const std::vector<NamedSize>& named_sizes() {
  static const std::vector<NamedSize> kNamedSizes = {
      {{"gpt2", "GPT-2, 124 million parameters, 1,024 tokens (Radford et al. 2019)"},
       "gpt",
       gpt(12, 768, 12)},
      {{"gpt2-medium", "GPT-2, 355 million parameters, 1,024 tokens (Radford et al. 2019)"},
       "gpt",
       gpt(24, 1024, 16)},
      {{"gpt2-large", "GPT-2, 774 million parameters, 1,024 tokens (Radford et al. 2019)"},
       "gpt",
       gpt(36, 1280, 20)},
      {{"gpt2-xl", "GPT-2, 1.56 billion parameters, 1,024 tokens (Radford et al. 2019)"},
       "gpt",
       gpt(48, 1600, 25)},
      {{"gpt3-175b", "GPT-3, 175 billion parameters, 2,048 tokens (Brown et al. 2020)"},
       "gpt",
       gpt(96, 12288, 96, 2048)},
      {{"llama2-7b", "Llama 2, 7 billion parameters, 4,096 tokens (Touvron et al. 2023)"},
       "llama",
       llama2(32, 4096, 32, 32, 11008)},
      {{"llama2-70b", "Llama 2, 69 billion parameters, 4,096 tokens (Touvron et al. 2023)"},
       "llama",
       llama2(80, 8192, 64, 8, 28672)},
      {{"llama3-8b", "Llama 3, 8 billion parameters, 8,192 tokens (Grattafiori et al. 2024)"},
       "llama",
       llama3(32, 4096, 32, 14336)},
      {{"llama3-70b", "Llama 3, 71 billion parameters, 8,192 tokens (Grattafiori et al. 2024)"},
       "llama",
       llama3(80, 8192, 64, 28672)},
      {{"llama3-405b", "Llama 3.1, 406 billion parameters, 8,192 tokens (Grattafiori et al. 2024)"},
       "llama",
       llama3(126, 16384, 128, 53248)},
      {{"bert-base", "BERT, 109 million parameters, 512 tokens (Devlin et al. 2019)"},
       "bert",
       bert(12, 768, 12)},
      {{"bert-large", "BERT, 335 million parameters, 512 tokens (Devlin et al. 2019)"},
       "bert",
       bert(24, 1024, 16)},
      {{"vit_b_16", "ViT-B/16, 3x224x224 in patches of 16 (Dosovitskiy et al. 2021)"},
       "vit",
       vit(12, 768, 12)},
      {{"vit_l_16", "ViT-L/16, 3x224x224 in patches of 16 (Dosovitskiy et al. 2021)"},
       "vit",
       vit(24, 1024, 16)},
  };
  return kNamedSizes;
}

std::string_view head_of(std::string_view text) {
  return text.substr(0, text.find(':'));
}

const Family* find_family(std::string_view name) {
  const auto it = std::find_if(families().begin(), families().end(),
                               [&](const Family& family) { return family.name == name; });
  return it == families().end() ? nullptr : &*it;
}
const NamedSize* find_named(std::string_view name) {
  const auto it = std::find_if(named_sizes().begin(), named_sizes().end(),
                               [&](const NamedSize& named) { return named.entry.name == name; });
  return it == named_sizes().end() ? nullptr : &*it;
}

bool has_tokens(const Family& family) {
  return std::any_of(family.keys.begin(), family.keys.end(),
                     [](const SizeKey& key) { return key.value == &TransformerSize::seq; });
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

std::string keys_of(const Family& family) {
  std::string keys;
  for (const SizeKey& key : family.keys) keys += std::string(key.name) + ", ";
  return keys + std::string(kDropout);
}

double read_dropout(std::string_view text, std::string_view value) {
  double probability = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), probability);
  if (error == std::errc() && end == value.data() + value.size() && probability >= 0 &&
      probability < 1) {
    return probability;
  }
  throw InputError(fmt::format("model '{}': {} must be a number from 0 to below 1, not '{}'", text,
                               kDropout, value));
}

void read_size(std::string_view text, const Family& family, std::string_view item,
               std::set<std::string>& given, TransformerSize& size) {
  const std::size_t equals = item.find('=');
  const std::string_view name = item.substr(0, equals);
  if (equals != std::string_view::npos && !given.insert(std::string(name)).second) {
    throw InputError(fmt::format("model '{}': {} is given twice", text, name));
  }
  if (equals != std::string_view::npos && name == kDropout) {
    size.dropout = read_dropout(text, item.substr(equals + 1));
    return;
  }
  const auto key = std::find_if(family.keys.begin(), family.keys.end(),
                                [&](const SizeKey& known) { return known.name == name; });
  if (equals == std::string_view::npos || key == family.keys.end()) {
    throw InputError(
        fmt::format("model '{}': '{}' is no size of {}; allowed: {}, each as KEY=NUMBER", text,
                    item, family.name, keys_of(family)));
  }
  const std::string_view digits = item.substr(equals + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 1 ||
      value > kMaxExtent) {
    throw InputError(fmt::format("model '{}': {} must be an integer from 1 to {}, not '{}'", text,
                                 name, kMaxExtent, digits));
  }
  size.*key->value = value;
}

void check_sizes(std::string_view text, const Family& family, const TransformerSize& size) {
  for (const SizeKey& key : family.keys) {
    if (size.*key.value > 0 || key.optional) continue;
    throw InputError(fmt::format("model '{}': {} is missing", text, key.name));
  }
  if (size.hidden % size.heads != 0) {
    throw InputError(fmt::format("model '{}': hidden {} is no multiple of heads {}", text,
                                 size.hidden, size.heads));
  }
  if (size.kv_heads > 0 && size.heads % size.kv_heads != 0) {
    throw InputError(fmt::format("model '{}': heads {} is no multiple of kv_heads {}", text,
                                 size.heads, size.kv_heads));
  }
  if (size.patch > size.image) {
    throw InputError(
        fmt::format("model '{}': patch {} is larger than image {}", text, size.patch, size.image));
  }
}

}  // namespace

std::span<const ZooEntry> family_members() {
  static const std::vector<ZooEntry> kEntries = [] {
    std::vector<ZooEntry> entries;
    for (const NamedSize& named : named_sizes()) entries.push_back(named.entry);
    return entries;
  }();
  return kEntries;
}

bool in_family(std::string_view text) {
  const std::string_view head = head_of(text);
  return find_named(head) != nullptr || (find_family(head) != nullptr && head != text);
}

Graph build_of_family(std::string_view text, std::int64_t batch) {
  const std::string_view head = head_of(text);
  const NamedSize* const named = find_named(head);
  const Family& family = *find_family(named != nullptr ? named->family : head);
  TransformerSize size = named != nullptr ? named->size : family.defaults;
  std::set<std::string> given;
  std::string_view rest = text.substr(std::min(text.size(), head.size() + 1));
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    read_size(text, family, item, given, size);
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  }
  check_sizes(text, family, size);
  return family.build(text, batch, size);
}

std::string with_tokens(std::string_view model, std::int64_t tokens) {
  const std::string_view head = head_of(model);
  const NamedSize* const named = find_named(head);
  const Family* const family = find_family(named != nullptr ? named->family : head);
  if (family == nullptr || !has_tokens(*family)) {
    throw InputError(fmt::format("model '{}' has no number of tokens; allowed: a member of {}",
                                 model, names_of(has_tokens)));
  }
  std::string sizes;
  for (const std::string& item :
       split_at_commas(model.substr(std::min(model.size(), head.size() + 1)))) {
    if (!item.empty() && !item.starts_with("seq=")) sizes += item + ",";
  }
  return fmt::format("{}:{}seq={}", head, sizes, tokens);
}

std::string family_names() {
  return names_of([](const Family&) { return true; });
}

}  // namespace strata
