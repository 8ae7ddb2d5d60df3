// What a buffer of a draft is for: an argument that is read or written, or a workspace.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "import/draft_parts.h"
#include "import/start_values.h"

namespace evo {
namespace {

bool IsNeverSet(const HostCode& host, const DraftBuffer& buffer) {
  const auto sets = [&](const char* function) { return !host.CallsOn(buffer.pointer, function).empty(); };
  return !sets("cudaMemcpy") && !sets("cudaMemset") && !sets("cudaMallocManaged");
}

}  // namespace

std::string DraftBuffers::Role(const DraftBuffer& buffer) const {
  if (SwapsOf(buffer) != nullptr) return "inout";
  if (buffer.constant || !buffer.use.written) return "in";
  // What all kernels write is between them, if there is a result besides.
  const bool is_between = IsBetween(buffer) && std::any_of(buffers_.begin(), buffers_.end(), [&](const DraftBuffer& other) {
                            return other.use.written && !other.constant && !IsBetween(other);
                          });
  if (is_between || IsScratch(buffer) || IsBetweenBlocks(buffer)) return "workspace";
  if (Memset(buffer)) return "out";
  if (buffer.first_writes) return "out";
  return buffer.use.read || buffer.use.partial ? "inout" : "out";
}

// What the host never sets, a later launch can only read where the first one wrote it. Of what a caller passes this is a guess.
bool DraftBuffers::IsBetween(const DraftBuffer& buffer) const {
  const bool written_first = buffer.first_writes || (buffer.first_partial && buffer.bytes && IsNeverSet(c_.host, buffer));
  return written_first && buffer.later_read && !c_.host.IsCopiedFrom(buffer.pointer);
}

// What kernels write and nothing reads, such as the sum of the one block on the last level, where the host copies another buffer;
// and what they only tell each other, such as the sums of blocks that the last block adds up.
bool DraftBuffers::IsScratch(const DraftBuffer& buffer) const {
  const bool own = buffer.use.read && buffer.stored_first && IsNeverSet(c_.host, buffer);
  if (!buffer.bytes || (buffer.use.read && !own)) return false;
  if (!buffer.none && c_.launches.size() < 2 && !own) return false;
  if (!buffer.none && (IsUsedElsewhere(buffer) || c_.host.IsCopiedFrom(buffer.pointer))) return false;
  return std::any_of(buffers_.begin(), buffers_.end(),
                     [&](const DraftBuffer& other) { return other.use.written && c_.host.IsCopiedFrom(other.pointer); });
}

// What blocks of one launch tell each other, such as tickets, flags and the sums behind them: kernels read and change it, the
// host does nothing with it but to set all of it to a byte, if the first kernel does not set it, and copies another buffer.
bool DraftBuffers::IsBetweenBlocks(const DraftBuffer& buffer) const {
  if (!buffer.bytes || !buffer.use.read || !buffer.use.written || IsUsedElsewhere(buffer)) return false;
  if (c_.host.IsCopiedFrom(buffer.pointer) || c_.host.CallsOn(buffer.pointer, "cudaMalloc").empty()) return false;
  const bool set = Memset(buffer).has_value() || (buffer.first_writes && IsNeverSet(c_.host, buffer));
  const auto is_told = [&](const DraftBuffer& other) {
    return other.use.written && &other != &buffer && (set || Memset(other)) && !c_.host.IsCopiedFrom(other.pointer);
  };
  // What is never set is told by what is.
  if (!set && (!IsNeverSet(c_.host, buffer) || std::none_of(buffers_.begin(), buffers_.end(), is_told))) return false;
  return std::any_of(buffers_.begin(), buffers_.end(),
                     [&](const DraftBuffer& other) { return other.use.written && c_.host.IsCopiedFrom(other.pointer); });
}

// The byte to which the host sets a buffer that the kernel adds to, or of which it leaves elements as they are.
std::optional<std::int64_t> DraftBuffers::Memset(const DraftBuffer& buffer) const {
  const bool keeps = buffer.use.read || buffer.use.partial;
  if (!buffer.use.written || !keeps || buffer.first_writes) return std::nullopt;
  for (const HostCall* call : c_.host.CallsOn(buffer.pointer, "cudaMemset")) {
    if (call->arguments.size() < 2) continue;
    const auto value = ValueOf(c_.host.Resolve(call->arguments[1], call->function), {});
    if (value && !value->is_real && value->integer >= 0 && value->integer < 256) return value->integer;
  }
  const std::vector<const HostCall*> copies = c_.host.CallsOn(buffer.pointer, "cudaMemcpy");
  const auto is_zero = [&](const HostCall* copy) { return StartValue(c_.program, c_.host.calls(), *copy) == "0"; };
  return !copies.empty() && std::all_of(copies.begin(), copies.end(), is_zero) ? std::optional<std::int64_t>(0) : std::nullopt;
}

}  // namespace evo
