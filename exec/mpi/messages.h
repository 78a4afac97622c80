#pragma once

// Messages under way, none of them waited for. Their memory is staging memory, apart from every
// tensor's, and is used again for later ones. Internal to exec/mpi. Not thread-safe.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <mpi.h>

#include "exec/runtime/turns.h"

namespace strata::mpi {

/// Values in staging memory.
struct Staging {
  std::unique_ptr<float[]> values;
  std::size_t size = 0, capacity = 0;
};

/// One message of a task: sent or to be received.
struct Message {
  Turn turn;
  DeviceId peer;
  bool sent = false;
  Staging staging;
};

class Messages {
 public:
  /// `tasks`: of a step. Throws EnvironmentError where MPI cannot tell so many apart.
  explicit Messages(std::size_t tasks);
  /// Messages may still be under way where a run failed: their memory is then left to them.
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  Staging take(std::size_t size);
  void give_back(Staging staging);

  /// To, or from, the message's peer.
  void begin(Message message);
  /// Hands over what has ended since; false where nothing has.
  bool progress(const std::function<void(Message)>& ended);
  /// Those under way.
  const std::vector<Message>& open() const { return open_; }

 private:
  std::vector<Message> open_;
  std::vector<MPI_Request> requests_;  // of open_
  std::vector<int> ended_;             // places in open_
  std::multimap<std::size_t, Staging> spare_;
};

}  // namespace strata::mpi
