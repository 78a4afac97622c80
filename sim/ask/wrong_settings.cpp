#include "sim/ask/wrong_settings.h"

#include <optional>
#include <utility>

#include "sim/base/error.h"
#include "sim/case/what_ifs.h"
#include "sim/text/file.h"
#include "sim/text/json.h"

namespace strata {
namespace {

class SettingsCheck {
 public:
  SettingsCheck(const Question& question, CaseLoader& loader, const Runner* runner)
      : question_(question), request_(question.input()), loader_(loader), runner_(runner) {}

  std::vector<WrongSetting> check_all() {
    check_devices();
    if (question_.job == Job::run) check_constants();
    check_model();
    if (graph_ && cluster_) check_batch();
    for (const auto& [key, value] : request_.sets) check_what_if(key, value);
    if (cluster_) check_profiles();
    const std::string strategy = question_.strategy();
    if (strategy.ends_with(".json")) {
      attempt("strategy", [&] { parse_json(read_file(strategy), strategy); });
    }
    return std::move(wrong_);
  }

 private:
  template <class Action>
  void attempt(std::string key, const Action& action) {
    try {
      action();
    } catch (const InputError& error) {
      wrong_.push_back({std::move(key), error.message()});
    }
  }

  void check_devices() {
    if (question_.job != Job::run) {
      return attempt("cluster", [&] { cluster_ = loader_.cluster(request_.cluster); });
    }
    if (runner_ == nullptr) throw EnvironmentError("there are no devices to run on");
    attempt("devices", [&] { cluster_ = runner_->cluster(question_.where()); });
  }

  void check_model() {
    try {
      graph_ = loader_.network(request_, 1);
    } catch (const InputError& error) {
      wrong_.push_back({cause_of(error.message()), error.message()});
    }
  }

  // The setting without which the model has another error, or none.
  std::string cause_of(const std::string& message) {
    CaseRequest without = request_;
    without.dims.clear();
    if (!request_.dims.empty() && !is_refused(without, message)) return "dim";
    without = request_;
    without.seq.reset();
    if (request_.seq && !is_refused(without, message)) return "seq";
    return "model";
  }

  bool is_refused(const CaseRequest& request, const std::string& message) {
    try {
      loader_.network(request, 1);
      return false;
    } catch (const InputError& error) {
      return error.message() == message;
    }
  }

  // Each by itself, since each has a line.
  void check_constants() {
    const auto& run = std::get<RunRequest>(question_.request);
    const auto alone = [&](std::string key, std::optional<double> AskedConstants::*which) {
      AskedConstants one;
      one.*which = run.constants.*which;
      attempt(std::move(key), [&] { constants_of(run.input.training.optimizer, one); });
    };
    alone("beta1", &AskedConstants::beta1);
    alone("beta2", &AskedConstants::beta2);
    alone("epsilon", &AskedConstants::epsilon);
  }

  void check_batch() {
    attempt(request_.training.batch ? "batch" : "batch_per_device", [&] {
      graph_ = loader_.network(request_, batch_of(request_.training, cluster_->device_count()));
    });
  }

  void check_what_if(const std::string& key, const std::string& value) {
    const bool of_network = key.starts_with("layer.") || key.starts_with("experts.");
    const bool of_cluster = key.starts_with("link.") || key.starts_with("device.") ||
                            key.starts_with("experts.");  // which may be too slow there
    if ((of_network && !graph_) || (of_cluster && !cluster_)) return;
    attempt("set." + key, [&] {
      Case input{graph_.value_or(Graph{}), cluster_.value_or(Cluster{}), {}, {}, {}};
      change(input, key, value);
      if (of_network) graph_ = std::move(input.graph);
      if (of_cluster) cluster_ = std::move(input.cluster);
    });
  }

  // A device without a profile of its kind is the cluster's fault; a run needs none.
  void check_profiles() {
    std::optional<CaseLoader::Models> files;
    attempt("profile", [&] { files = loader_.from_files(request_.profiles, *cluster_, ""); });
    if (!files || question_.job == Job::run) return;
    attempt("cluster", [&] { loader_.by_device(*cluster_, *files); });
  }

  const Question& question_;
  const CaseRequest& request_;
  CaseLoader& loader_;
  const Runner* runner_;
  std::optional<Cluster> cluster_;
  std::optional<Graph> graph_;
  std::vector<WrongSetting> wrong_;
};

}  // namespace

std::vector<WrongSetting> wrong_settings(const Question& question, CaseLoader& loader,
                                         const Runner* runner) {
  return SettingsCheck(question, loader, runner).check_all();
}

}  // namespace strata
