#pragma once

// Families of transformers: their members by name, and any size of them. Part of the zoo.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/graph/zoo.h"

namespace strata {

std::span<const ZooEntry> family_members();

/// Whether the text begins with the name of a family or of a member: "gpt:layers=2,...", "gpt2",
/// "gpt2:seq=256".
bool in_family(std::string_view text);

/// Throws InputError for a key that the family lacks, a value that is none, sizes that are missing.
Graph build_of_family(std::string_view text, std::int64_t batch);

/// For messages: "gpt, llama, bert, vit, t5, whisper".
std::string family_names();

}  // namespace strata
