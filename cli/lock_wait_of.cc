#include "cli/lock_wait_of.h"

#include <chrono>

#include "cli/print.h"

namespace evo {

LockWait LockWaitOf(const CommandContext& context) {
  LockWait wait;
  wait.longest = std::chrono::hours(12);
  wait.say = [messages = context.messages](const std::string& line) { Print(messages, "{}\n", line); };
  wait.stop = context.interrupt;
  return wait;
}

}  // namespace evo
