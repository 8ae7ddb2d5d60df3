#pragma once

#include "cli/command_context.h"
#include "db/disk_wait.h"
#include "db/lock_wait.h"

namespace evo {

// How a command that has measured something waits for a database that another program has locked: for half a day, because what it
// measured is worth minutes of a GPU. It says that it waits, and ends when it is interrupted.
LockWait LockWaitOf(const CommandContext& context);

// And for room on its disk: for an hour, in which somebody may see the message.
DiskWait DiskWaitOf(const CommandContext& context);

}  // namespace evo
