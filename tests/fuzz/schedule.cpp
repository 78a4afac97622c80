// A file with the schedule of a pipeline, in memory: read and, where it has all passes of two
// stages and two rounds, brought into one order.

#include "sim/strategy/schedule.h"

#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {"0F0", "1F0", "0B0", "1B0", "0I1", "1W1", "0F1", "1B1"};
constexpr std::string_view kLines[] = {"0F0,0F1,0B0,0B1", "1F0,1B0,1F1,1B1", "# stages", ""};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

class MemoryFile {
 public:
  MemoryFile()
      : file_(memfd_create("schedule", 0)), path_("/proc/self/fd/" + std::to_string(file_)) {
    if (file_ < 0) std::abort();
  }
  void hold(std::string_view text) const {
    const bool emptied = ftruncate(file_, 0) == 0;
    const ssize_t written = pwrite(file_, text.data(), text.size(), 0);
    if (!emptied || written != static_cast<ssize_t>(text.size())) std::abort();
  }
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  static const strata::Pipeline pipeline = {2, {0, 1}, {{}, {0}}};
  return strata::fuzz(data, size, [](std::string_view text) {
    file.hold(text);
    const strata::Schedule schedule = strata::read_schedule(file.path());
    strata::check_schedule(schedule, pipeline, 2);
    strata::in_one_order(schedule, pipeline);
  });
}
