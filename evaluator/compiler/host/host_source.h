#pragma once

#include <optional>
#include <string>

namespace evo {

// Why the cpu device cannot run a source, with the line.
struct HostRefusal {
  std::string message;
};

struct HostSource {
  std::optional<HostRefusal> refusal;
  std::string text;  // with the same line numbers as the CUDA source
};

// Rewrites a CUDA source for the host compiler, token by token and without moving a line: shared-memory declarations become
// references into the block's memory, and `#pragma unroll` becomes the host compiler's pragma. Refuses inline assembly, clock
// reads, and shared memory outside a function or in a macro. docs/adr/0002 says why it works on tokens.
HostSource ToHostSource(const std::string& source);

}  // namespace evo
