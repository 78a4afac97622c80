#include "cli/devices_option.h"

#include "cli/dtype_option.h"

namespace strata {

void add_devices_option(CLI::App& command, std::string& devices) {
  command
      .add_option("--devices", devices,
                  "cpu:N, N cores of this machine, a device each; cuda:0,1, GPUs by number; "
                  "cuda:0/N, GPU 0 standing for N devices")
      ->required();
}

void add_device_dtype_option(CLI::App& command, std::string& dtype) {
  add_dtype_option(command, dtype, "fp32; on GPUs also tf32 or bf16 (default fp32)");
}

}  // namespace strata
