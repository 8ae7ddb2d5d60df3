#include "platform/disk_full.h"

#include <fmt/format.h>

#include "platform/command.h"

namespace evo {

DiskFull::DiskFull(const std::filesystem::path& folder)
    : Error(fmt::format("{}: no space is left there for temporary files; {}", folder.string(), kMakeRoom)) {}

bool SaysDiskIsFull(const std::string& output) {
  // A compiler quotes a source in lines of its own, after a bar, and in the messages of #error and static_assert.
  return !FindInLines(output, R"(^(?!.*(?:\||#error|#warning|static assertion)).*)"
                              R"((?:No space left on device|Disk quota exceeded)'?\.?$)")
              .empty();
}

}  // namespace evo
