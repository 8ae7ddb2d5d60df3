#pragma once

#include <filesystem>

#include "core/store.h"

namespace evo::testing {

// Changes the fixture run of a database so that every text tries to be something else: scripts and markup in names, messages,
// sources and logs, control characters, ten megabytes of log, parents that go round in a circle, numbers where texts belong.
void MakeHostile(const std::filesystem::path& database, RunId run);

// What the hostile texts have in them; if a page runs it, window.hacked is set.
inline constexpr const char* kScript = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>";

}  // namespace evo::testing
