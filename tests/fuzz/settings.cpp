// KEY=TEXT of a setting, as the command line has them: what is read lies within what is allowed,
// and sizes and open dims print and read back equal.

#include "sim/scenario/settings.h"

#include <cstdlib>

#include "sim/text/units.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {
    "model",   "batch",     "strategy", "memory_limit", "jitter",  "steps",     "lr",       "seed",
    "degrees", "objective", "dtype",    "sync",         "zero",    "recompute", "schedule", "8 GiB",
    "1.5 GB",  "bf16",      "ring",     "1f1b",         "profile", "layers",    "true",     "all"};
constexpr std::string_view kLines[] = {"batch=32", "memory_limit=8 GiB", "lr=0.01", "dim=h=3,w=4"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

void check_size(const strata::SettingSpec& setting, std::string_view text) {
  const strata::Bytes size = strata::read_size(setting, text);
  if (strata::read_size(setting, strata::print_exact(size)) != size) std::abort();
}

void check_whole(const strata::SettingSpec& setting, std::string_view text, strata::Job job) {
  const std::int64_t number = strata::read_whole(setting, text, job);
  const auto [least, most] = strata::whole_range(setting, job);
  if (number < least || number > most) std::abort();
}

void check(const strata::SettingSpec& setting, std::string_view text, strata::Job job) {
  switch (setting.form) {
    case strata::ValueForm::choice:
    case strata::ValueForm::flag:
      if (strata::read_place(setting, text) >= setting.choices.size()) std::abort();
      return;
    case strata::ValueForm::size:
      return check_size(setting, text);
    case strata::ValueForm::positive:
    case strata::ValueForm::natural:
      return check_whole(setting, text, job);
    case strata::ValueForm::rate:
    case strata::ValueForm::seconds:
      if (!(strata::read_rate(setting, text) >= 0)) std::abort();
      return;
    case strata::ValueForm::dims: {
      const strata::OpenDims dims = strata::read_dims(setting, text);
      if (strata::read_dims(setting, strata::print_open_dims(dims)) != dims) std::abort();
      return;
    }
    default:
      return;  // texts: names of networks, clusters and files
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t at = input.find('=');
  const auto* setting = strata::find_setting(input.substr(0, at));
  if (at == input.npos || setting == nullptr) return 0;
  for (const strata::Job job : strata::jobs()) {
    strata::fuzz(data + at + 1, size - at - 1,
                 [&](std::string_view text) { check(*setting, text, job); });
  }
  return 0;
}
