#include "cli/options/case_options.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/options/setting_options.h"
#include "cli/output/output.h"
#include "sim/case/framework.h"
#include "sim/trust/cost_warnings.h"

namespace strata {

void add_model_and_cluster(CLI::App& command, CaseRequest& request) {
  add_model(command, request);
  add_setting(command, "cluster", request.cluster)->required();
}

void add_case_options(CLI::App& command, CaseRequest& request) {
  add_training(command, request.training);
  add_setting(command, "as", request.framework);
  add_what_ifs(command, request.sets);
  add_setting(command, "profile", request.profiles)->allow_extra_args(false);
  add_setting(command, "allow_unsupported", request.unsupported);
  follow_framework(command, request);
}

void follow_framework(CLI::App& command, CaseRequest& request) {
  command.parse_complete_callback([&command, &request] {
    choose_settings(request, [&](std::string_view key) {
      return command.count(option_name(std::string(key))) > 0;
    });
  });
}

Case load(const CaseRequest& request) {
  Case input = load_case(request);
  for (const std::string& doubt : cost_warnings(input)) warn(doubt);
  return input;
}

std::vector<std::string> files_of_profiles(const std::vector<std::string>& profiles) {
  std::vector<std::string> files;
  for (const std::string& profile : profiles) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(profile, unknown)) {  // a pipe can be read once only
      files.push_back(profile);
      continue;
    }
    for (std::string& file : files_of_profile(profile)) files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::string> files_read(const CaseRequest& request,
                                    const std::vector<std::string>& more) {
  std::vector<std::string> files = files_of_profiles(request.profiles);
  files.insert(files.end(), {request.model, request.cluster});
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

}  // namespace strata
