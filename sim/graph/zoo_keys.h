#pragma once

// What a text may set of a transformer: "layers=2,hidden=64". A table of keys for each family.
// Values; thread-safe. Part of the zoo.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/graph/zoo_transformer.h"

namespace strata {

struct SpecKey {
  /// An integer from 1; a network lacks its size without one that is required.
  struct Count {
    std::int64_t TransformerSpec::*member;
    bool required = false;
  };
  struct Real {
    double TransformerSpec::*member;
    double least = 0, most = 0;
  };
  /// A number from 0 to below 1.
  struct Probability {
    double TransformerSpec::*member;
  };
  /// 1 or true, 0 or false.
  struct Flag {
    bool TransformerSpec::*member;
  };
  /// One of some words, by its number among them.
  struct Word {
    struct Choice {
      std::string_view word;
      int value = 0;
      bool alias = false;  ///< another word for a choice: no message lists it
    };
    std::vector<Choice> choices;
    void (*set)(TransformerSpec& spec, int value);
  };
  std::string_view name;
  std::variant<Count, Real, Probability, Flag, Word> field;
};

std::span<const SpecKey> gpt_keys();
std::span<const SpecKey> llama_keys();
std::span<const SpecKey> bert_keys();
std::span<const SpecKey> vit_keys();
std::span<const SpecKey> t5_keys();
std::span<const SpecKey> whisper_keys();

/// "layers, hidden, ...".
std::string names_of(std::span<const SpecKey> keys);

/// Reads "KEY=VALUE,KEY=VALUE" into the spec. Throws InputError for a key that is not in the table
/// or stands twice, and for a value that is none; `model` is the text that messages name, `family`
/// whose table it is.
void read_keys(std::string_view model, std::string_view family, std::span<const SpecKey> keys,
               std::string_view text, TransformerSpec& spec);

/// Throws InputError for sizes that are missing or do not fit together.
void check_spec(std::string_view model, std::span<const SpecKey> keys, const TransformerSpec& spec);

}  // namespace strata
