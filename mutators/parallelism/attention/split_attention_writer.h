#pragma once

#include <cstdint>
#include <string>

#include "mutators/analysis/attention/attention.h"
#include "mutators/parallelism/attention/attention_writer.h"

namespace evo {

// What a search begins with: parts of a row's keys, warps of a block, lanes that share a key, keys of each such group in a step.
struct SplitAttentionStart {
  std::int64_t parts, warps, lanes, step_keys;
};

// Writes an attention whose rows have keys of their own, as the one query of a head in decoding has: blocks share the keys of a
// row and leave their sums in a workspace, and a second kernel, the source's own, combines them.
class SplitAttentionWriter {
 public:
  // The arguments must outlive the writer. The rows of the attention have keys of their own.
  SplitAttentionWriter(const MutationContext& context, const Attention& found);

  // Why it cannot be written, in words that follow "the kernel ... : "; empty if it can.
  std::string Refusal() const;
  Proposal Written(const SplitAttentionStart& start) const;

 private:
  std::string Name(const char* wanted) const;
  int VectorElements() const { return found_.element == "float" ? 4 : 8; }
  std::string Row() const;
  std::string Body(std::string_view text) const;
  std::string PartsKernel() const;
  std::vector<std::int64_t> Lanes() const;
  std::vector<std::string> Grid() const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const Attention& found_;
  const std::string parts_, warps_, lanes_, step_keys_;
  const std::string kernel_, sums_, states_;
  const AttentionWriter writer_;
};

}  // namespace evo
