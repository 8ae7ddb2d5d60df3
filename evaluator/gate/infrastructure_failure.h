#pragma once

#include <stdexcept>

namespace evo {

// The device or the reference failed, not the candidate: what failed, in one line. A run worker reports it and lives on.
class InfrastructureFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace evo
