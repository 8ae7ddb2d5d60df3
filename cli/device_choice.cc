#include "cli/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "evaluator/device/cuda/cuda_devices.h"

namespace evo {

DeviceChoice ChooseDevice(const std::string& asked) {
  if (asked == "cpu") return {"cpu", {0}};
  const bool automatic = asked == "auto";
  int ordinal = 0;
  constexpr std::string_view kCuda = "cuda";
  if (!automatic) {
    const std::string rest = asked.rfind(kCuda, 0) == 0 ? asked.substr(kCuda.size()) : "?";
    const char* end = rest.data() + rest.size();
    const bool numbered = rest.size() > 1 && rest[0] == ':' && std::from_chars(rest.data() + 1, end, ordinal).ptr == end;
    if (rest.rfind(":all", 0) == 0 || rest.find(',') != std::string::npos) {
      throw UsageError(fmt::format("--device {}: several GPUs are not supported yet; name one, as in cuda:0", asked));
    }
    if (!rest.empty() && !numbered) throw UsageError(fmt::format("--device {}: give auto, cuda, cuda:N or cpu", asked));
  }
  const CudaDevices found = ListCudaDevices();
  if (automatic && found.devices.empty()) return {"cpu", {0}};
  if (found.devices.empty()) throw UsageError(fmt::format("--device {}: {}", asked, found.why_none));
  const bool known = std::any_of(found.devices.begin(), found.devices.end(), [&](const CudaDeviceSummary& d) { return d.ordinal == ordinal; });
  if (!known) throw UsageError(fmt::format("--device {}: there are {} GPUs, numbered from 0", asked, found.devices.size()));
  return {"cuda", {ordinal}};
}

}  // namespace evo
