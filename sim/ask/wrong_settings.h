#pragma once

// What is wrong with a case's settings before it is answered: names, files and what-ifs, each by
// itself, so that everything can be said at once. Thread-safe as its parts are.

#include <string>
#include <vector>

#include "sim/ask/question.h"
#include "sim/case/case_loader.h"
#include "sim/measure/runner.h"

namespace strata {

struct WrongSetting {
  std::string key;      ///< the setting's
  std::string message;  ///< an InputError's; may have several lines
};

/// In the order in which an answer would come upon them. What can only be said of what is not
/// there (a what-if of an unknown cluster) is left out. `runner`: of runs. Throws EnvironmentError
/// for devices that are not there.
std::vector<WrongSetting> wrong_settings(const Question& question, CaseLoader& loader,
                                         const Runner* runner);

}  // namespace strata
