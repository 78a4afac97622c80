#include "sim/graph/zoo_members.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace strata {
namespace {

struct MemberRow {
  std::string_view name;
  std::string_view what;  ///< title, parameters, tokens or image
  std::string_view sizes;
};

/// Networks of one publication.
struct Publication {
  std::string_view source;
  std::string_view family;
  std::string_view common;  ///< keys that all of them have
  std::vector<MemberRow> rows;
};

const std::vector<Publication>& publications() {
  static const std::vector<Publication> kAll = {
      {"Radford et al. 2019",
       "gpt",
       "seq=1024,vocab=50257,positions=1024",
       {{"gpt2", "GPT-2, 124 million parameters, 1,024 tokens", "layers=12,hidden=768,heads=12"},
        {"gpt2-medium", "GPT-2, 355 million parameters, 1,024 tokens",
         "layers=24,hidden=1024,heads=16"},
        {"gpt2-large", "GPT-2, 774 million parameters, 1,024 tokens",
         "layers=36,hidden=1280,heads=20"},
        {"gpt2-xl", "GPT-2, 1.56 billion parameters, 1,024 tokens",
         "layers=48,hidden=1600,heads=25"}}},
      {"Brown et al. 2020",
       "gpt",
       "seq=2048,vocab=50257,positions=2048",
       {{"gpt3-175b", "GPT-3, 175 billion parameters, 2,048 tokens",
         "layers=96,hidden=12288,heads=96"}}},
      {"Touvron et al. 2023",
       "llama",
       "seq=4096,vocab=32000",
       {{"llama2-7b", "Llama 2, 7 billion parameters, 4,096 tokens",
         "layers=32,hidden=4096,heads=32,ffn=11008"},
        {"llama2-70b", "Llama 2, 69 billion parameters, 4,096 tokens",
         "layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672"}}},
      {"Grattafiori et al. 2024",
       "llama",
       "seq=8192,vocab=128256,kv_heads=8,rope_base=500000",
       {{"llama3-8b", "Llama 3, 8 billion parameters, 8,192 tokens",
         "layers=32,hidden=4096,heads=32,ffn=14336"},
        {"llama3-70b", "Llama 3, 71 billion parameters, 8,192 tokens",
         "layers=80,hidden=8192,heads=64,ffn=28672"},
        {"llama3-405b", "Llama 3.1, 406 billion parameters, 8,192 tokens",
         "layers=126,hidden=16384,heads=128,ffn=53248"}}},
      {"Devlin et al. 2019",
       "bert",
       "seq=512,vocab=30522,positions=512",
       {{"bert-base", "BERT, 109 million parameters, 512 tokens", "layers=12,hidden=768,heads=12"},
        {"bert-large", "BERT, 335 million parameters, 512 tokens",
         "layers=24,hidden=1024,heads=16"}}},
      {"Dosovitskiy et al. 2021",
       "vit",
       "image=224,patch=16,classes=1000",
       {{"vit_b_16", "ViT-B/16, 3x224x224 in patches of 16", "layers=12,hidden=768,heads=12"},
        {"vit_l_16", "ViT-L/16, 3x224x224 in patches of 16", "layers=24,hidden=1024,heads=16"}}},
  };
  return kAll;
}

/// The members, and the texts that their entries are views of.
struct Members {
  std::vector<std::string> descriptions;
  std::vector<ZooMember> all;

  Members() {
    for (const Publication& published : publications()) {
      for (const MemberRow& row : published.rows) {
        descriptions.push_back(fmt::format("{} ({})", row.what, published.source));
      }
    }
    auto description = descriptions.begin();
    for (const Publication& published : publications()) {
      for (const MemberRow& row : published.rows) {
        all.push_back({{row.name, *description++}, published.family, published.common, row.sizes});
      }
    }
  }
};

}  // namespace

std::span<const ZooMember> zoo_members() {
  static const Members kMembers;
  return kMembers.all;
}

const ZooMember* find_member(std::string_view name) {
  const auto members = zoo_members();
  const auto it = std::ranges::find_if(
      members, [&](const ZooMember& member) { return member.entry.name == name; });
  return it == members.end() ? nullptr : &*it;
}

}  // namespace strata
