#include "cli/store_waits.h"

#include <chrono>

#include "cli/print.h"

namespace evo {
namespace {

template <typename Wait>
Wait WaitOf(const CommandContext& context, std::chrono::hours longest) {
  Wait wait;
  wait.longest = longest;
  wait.say = [messages = context.messages](const std::string& line) { Print(messages, "{}\n", line); };
  wait.stop = context.interrupt;
  return wait;
}

}  // namespace

LockWait LockWaitOf(const CommandContext& context) { return WaitOf<LockWait>(context, std::chrono::hours(12)); }

DiskWait DiskWaitOf(const CommandContext& context) { return WaitOf<DiskWait>(context, std::chrono::hours(1)); }

}  // namespace evo
