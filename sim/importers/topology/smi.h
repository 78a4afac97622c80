#pragma once

// The matrix that `nvidia-smi topo -m` prints: for every two GPUs and network cards the nearest
// thing that joins them. From it the tree of PCI bridges is drawn again; what NVLinks hide of it is
// taken from the cards and the NUMA nodes. Bandwidths are no part of the matrix: they come from the
// options and nominal.h. Pure; thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include "sim/importers/topology/machine.h"

namespace strata {

/// How near two of them are; of each, the smallest box that holds both.
enum class Nearness : std::uint8_t { self, pix, pxb, phb, node, sys, nvlink };

struct SmiMatrix {
  struct Row {
    std::string name;  ///< "GPU0", "mlx5_0"
    bool gpu = false;
    std::string affinity;  ///< of processors, as printed; empty where it is not
    int line = 0;
    std::vector<Nearness> to;
    std::vector<int> nvlinks;  ///< how many, where `to` says so
  };
  std::string file;
  std::vector<Row> rows;
};

/// Throws InputError "FILE:LINE: ...".
SmiMatrix read_smi_matrix(std::string_view text, const std::string& file);
Machine draw_machine(const SmiMatrix& matrix, const MachineOptions& options);

}  // namespace strata
