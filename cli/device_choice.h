#pragma once

#include <string>
#include <vector>

namespace evo {

// The device that `--device` names.
struct DeviceChoice {
  std::string kind;           // "cuda" or "cpu"
  std::vector<int> ordinals;  // of the GPUs; {0} on the cpu device
};

// Accepts "cpu", "cuda", "cuda:1", "cuda:0,2", "cuda:all" and "auto", which is the first GPU if there is one, else cpu. Throws
// UsageError, with the reason, for any other word, for a GPU that is not there, and for GPUs of different models.
DeviceChoice ChooseDevice(const std::string& asked);

}  // namespace evo
