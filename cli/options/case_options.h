#pragma once

// What says which step it is about (MODEL, --dim, --cluster, --batch, --sync, --dtype, --profile,
// --set, --allow-unsupported): shared by the commands that predict, search and compare.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/options/setting_options.h"
#include "sim/ask/request.h"
#include "sim/case/predict.h"

namespace strata {

/// MODEL and --cluster, both required, and --dim.
void add_model_and_cluster(CLI::App& command, CaseRequest& request);
/// All the others.
void add_case_options(CLI::App& command, CaseRequest& request);

/// What was not given is as the framework has it.
void follow_framework(CLI::App& command, CaseRequest& request);
/// MODEL, and each setting of a request that is one of the table; --set. Keys of `without` are left
/// out: those of the request that the command has no use for.
template <class Request>
void add_request(CLI::App& command, Request& request,
                 std::initializer_list<std::string_view> without = {}) {
  add_model(command, request.input);
  each_setting(request, [&](std::string_view key, auto& value) {
    const bool known =
        find_setting(key) != nullptr && key != "model" && key != "dim" && key != "seq";
    if (!known || std::ranges::find(without, key) != without.end()) return;
    CLI::Option* const option = add_setting(command, key, value);
    if (key == "batch_per_device") option->excludes(command.get_option(option_name("batch")));
    if (key == "profile") option->allow_extra_args(false);
    if (key == "cluster") option->required();
  });
  add_what_ifs(command, request.input.sets);
  follow_framework(command, request.input);
}

/// Warns of what makes its costs doubtful. Throws InputError for a value that is not allowed.
Case load(const CaseRequest& request);

/// The files that profiles are read from: their tables of costs, too.
std::vector<std::string> files_of_profiles(const std::vector<std::string>& profiles);

/// The files that a case is read from, and `more`: no output may name one of them.
std::vector<std::string> files_read(const CaseRequest& request,
                                    const std::vector<std::string>& more);

}  // namespace strata
