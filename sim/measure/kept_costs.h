#pragma once

// Measured costs that stay from one command to the next: a folder for each machine, set of devices
// and version of the libraries, and in it profiles (profile.h) whose rows together are what is
// known. A part is written whole under a name of its own and never changed. Who adds rows writes
// one part with all that it has read and then removes what it has read; so several processes may
// add at once, and one that is killed loses nothing but what it had not added. One part is usual.

#include <optional>
#include <string>
#include <vector>

#include "sim/profile/profile.h"

namespace strata {

/// In the cache_folder(), the folder `costs`; empty without a home.
std::string cost_folder();

/// What costs hold for, and no other.
struct CostsOf {
  std::string devices;       ///< as a Runner names them: "cpu:2"
  std::string kind;          ///< of the devices
  std::string machine;       ///< processor, libraries, host, program: a profile's description
  std::int64_t at_once = 0;  ///< a profile's `devices`
};

class KeptCosts {
 public:
  /// Reads what is in `folder`; an empty one keeps nothing. A file that is no profile, or one of
  /// other devices, is left where it is, and said in warnings().
  KeptCosts(const std::string& folder, CostsOf of);

  /// Nothing where nothing is kept.
  const std::optional<Profile>& profile() const { return profile_; }
  /// Adds rows, which take the place of those of equal key, and writes all. Where that fails, the
  /// first time is in warnings(), and profile() has the rows all the same.
  void add(const Profile& newer);

  /// Where the parts are; empty where nothing is kept.
  const std::string& folder() const { return folder_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Part {
    std::string file;
    Profile profile;
  };

  std::vector<Part> read_parts();
  std::optional<Profile> read_part(const std::string& file);
  void write(const std::vector<Part>& read);
  void warn_once(const std::string& warning);

  CostsOf of_;
  std::string folder_;
  std::optional<Profile> profile_;
  std::vector<std::string> warnings_;
};

}  // namespace strata
