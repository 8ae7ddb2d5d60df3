#pragma once

#include <string>
#include <vector>

namespace evo {

// The device, or devices of one kind, that `--device` names.
struct DeviceChoice {
  std::string kind;           // DevicePolicy::kind
  std::vector<int> ordinals;  // of the GPUs; {0} for a device without numbers
};

// "auto" is the first GPU if there is one, else the cpu device. GPUs are "cuda", "cuda:1", "cuda:0,2" or "cuda:all"; every other
// device has one word. Throws UsageError, with the reason, for another word, a GPU that is not there, or GPUs that differ.
DeviceChoice ChooseDevice(const std::string& asked);

}  // namespace evo
