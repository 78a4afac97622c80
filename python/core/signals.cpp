#include "python/core/signals.h"

#include <csignal>
#include <utility>

namespace strata::python {
namespace py = pybind11;
namespace {

// A signal handler has nothing else to reach.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
struct sigaction pythons {};
int works = 0;  // of the main thread, one within another

void on_interrupt(int signal, siginfo_t* info, void* context) {
  interrupted = true;
  if ((pythons.sa_flags & SA_SIGINFO) != 0) {
    pythons.sa_sigaction(signal, info, context);
  } else {
    pythons.sa_handler(signal);
  }
}

bool is_main_thread() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

// Where SIGINT is ignored, or ends the process, it does so still.
bool calls_a_function(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void listen() {
  interrupted = false;
  sigaction(SIGINT, nullptr, &pythons);
  if (!calls_a_function(pythons)) return;
  struct sigaction ours = pythons;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = on_interrupt;
  sigaction(SIGINT, &ours, nullptr);
}

}  // namespace

Work::Work(py::object told) : told_(std::move(told)), main_thread_(is_main_thread()) {
  if (!main_thread_) return;
  flag_ = &interrupted;
  if (works++ == 0) listen();
}

Work::~Work() {
  if (main_thread_ && --works == 0) sigaction(SIGINT, &pythons, nullptr);
}

bool Work::is_due(std::string_view stage) {
  constexpr std::chrono::milliseconds kInterval{100};
  const std::lock_guard guard(lock_);
  const auto now = std::chrono::steady_clock::now();
  if (stage == stage_ && now - last_ < kInterval) return false;
  stage_ = stage;
  last_ = now;
  return true;
}

void Work::tell(std::string_view stage, const std::string& text) {
  if (!is_due(stage)) return;
  const py::gil_scoped_acquire lock;
  if (error_) return;
  try {
    told_(text);
  } catch (const py::error_already_set&) {
    error_ = std::current_exception();
    *flag_ = true;
  }
}

void Work::raise_reason() {
  if (error_) std::rethrow_exception(error_);
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  // A handler of the program's own swallowed the signal, yet the work is not whole.
  throw Cancelled();
}

}  // namespace strata::python
