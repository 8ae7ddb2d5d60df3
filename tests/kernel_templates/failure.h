#pragma once

#include <string>

#include "core/error.h"

namespace evo {

// The message of the UsageError that the action throws; empty if it throws none.
template <typename Action>
std::string UsageFailure(Action action) {
  try {
    action();
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

}  // namespace evo
