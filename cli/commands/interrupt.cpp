#include "cli/commands/interrupt.h"

#include <csignal>

namespace strata {
namespace {

// A signal handler has nothing else to reach.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// The second SIGINT finds the default action.
void on_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

InterruptFlag::InterruptFlag() {
  interrupted = false;
  std::signal(SIGINT, on_interrupt);
}

InterruptFlag::~InterruptFlag() {
  std::signal(SIGINT, SIG_DFL);
}

const std::atomic<bool>* InterruptFlag::get() const {
  return &interrupted;
}

}  // namespace strata
