#include "exec/calibrate/calibration.h"

#include "exec/calibrate/queued_calibration.h"
#include "exec/calibrate/threaded_calibration.h"

namespace strata {

std::unique_ptr<Measurer> calibrate(std::shared_ptr<Backend> backend, const Graph& graph,
                                    const MeasureList& list, CalibrateOptions options) {
  if (backend->is_asynchronous()) {
    return std::make_unique<QueuedCalibration>(std::move(backend), graph, list, std::move(options));
  }
  return std::make_unique<ThreadedCalibration>(std::move(backend), graph, list, std::move(options));
}

}  // namespace strata
