#include "cli/output/progress.h"

#include <cstdio>

#include <unistd.h>

#include "cli/output/output.h"
#include "sim/ask/progress_text.h"

namespace strata {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

ProgressLine::ProgressLine() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const SolveProgress& progress) {
  show(std::string(progress.stage), progress_text(progress));
}

void ProgressLine::show(const std::string& stage, const std::string& text) {
  if (!on_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (stage == stage_ && now - shown_ < kInterval) return;
  stage_ = stage;
  shown_ = now;
  write(text);
}

void ProgressLine::clear() {
  if (width_ == 0) return;
  write("");
  std::fputs("\r", stderr);
}

// Blanks cover what the last line had more.
void ProgressLine::write(const std::string& line) {
  const std::size_t covered = width_ > line.size() ? width_ - line.size() : 0;
  std::fputs(("\r" + printable(line) + std::string(covered, ' ')).c_str(), stderr);
  std::fflush(stderr);
  width_ = line.size();
}

}  // namespace strata
