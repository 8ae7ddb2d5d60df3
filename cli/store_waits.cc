#include "cli/store_waits.h"

#include <chrono>

#include "cli/print.h"

namespace evo {
namespace {

std::function<void(const std::string&)> SayTo(const CommandContext& context) {
  return [messages = context.messages](const std::string& line) { Print(messages, "{}\n", line); };
}

}  // namespace

LockWait LockWaitOf(const CommandContext& context) {
  LockWait wait;
  wait.longest = std::chrono::hours(12);
  wait.say = SayTo(context);
  wait.stop = context.interrupt;
  return wait;
}

DiskWait DiskWaitOf(const CommandContext& context) {
  DiskWait wait;
  wait.longest = std::chrono::hours(1);
  wait.say = SayTo(context);
  wait.stop = context.interrupt;
  return wait;
}

}  // namespace evo
