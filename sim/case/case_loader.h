#pragma once

// Cases from names and files. What several cases have in common, networks, clusters as they are
// named, costs by kind of device, is read once and remembered. Thread-safe.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/case/case.h"

namespace strata {

class CaseLoader {
 public:
  /// As load_case(), which is this for one case.
  Case load(const CaseRequest& request);
  /// The network of its MODEL, of this batch.
  Graph network(const CaseRequest& request, std::int64_t batch);
  Cluster cluster(const std::string& name);
  /// The kinds of a cluster's devices, each once, in order of appearance.
  std::vector<std::string> kinds(const std::string& cluster);
  /// As load_cost_models().
  std::vector<std::shared_ptr<const CostModel>> cost_models(
      const Cluster& cluster, const std::vector<std::string>& profiles);

  /// By kind.
  using Models = std::map<std::string, std::shared_ptr<const CostModel>>;
  /// Throws InputError for files that no device needs; `named`: what stands before
  /// them.
  Models from_files(const std::vector<std::string>& files, const Cluster& cluster,
                    std::string_view named = "`profile` ");
  /// From the files, else those that ship. Throws InputError where a device has neither.
  std::vector<std::shared_ptr<const CostModel>> by_device(const Cluster& cluster,
                                                          const Models& from_files);

 private:
  std::shared_ptr<const CostModel> shipped(const Device& device, const Cluster& cluster);
  Graph network_of_round(const CaseRequest& request, std::int64_t batch, const Cluster& cluster);

  struct FileModel {
    std::string kind;
    std::shared_ptr<const CostModel> model;
  };
  std::mutex lock_;
  std::map<std::tuple<std::string, std::int64_t, Unsupported, OpenDims, std::string>, Graph>
      networks_;
  std::map<std::string, Cluster> clusters_;
  std::map<std::string, FileModel> files_;
  Models shipped_;
};

}  // namespace strata
