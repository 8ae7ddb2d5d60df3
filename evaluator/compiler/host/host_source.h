#pragma once

#include <optional>
#include <string>

namespace evo {

// What the cpu device cannot run, with the line it stands in.
struct HostRefusal {
  std::string message;
};

struct HostSource {
  std::optional<HostRefusal> refusal;
  std::string text;  // same lines as the CUDA source
};

// Makes a CUDA source acceptable to the host compiler, token by token and without moving a line: shared-memory declarations
// become references into the block's memory, `#pragma unroll` becomes the host compiler's. Refuses inline assembly, clock reads,
// and shared memory outside a function or in a macro. docs/adr/0002 says why this is done on tokens.
HostSource ToHostSource(const std::string& source);

}  // namespace evo
