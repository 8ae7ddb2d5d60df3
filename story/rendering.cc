#include "story/rendering.h"

#include <fmt/format.h>

#include "core/digest.h"
#include "core/error.h"

namespace evo {

std::string RenderStored(const SourceRenderer& render, const RunRecord& run, const CandidateRecord& record) {
  const Genome& genome = record.candidate.genome;
  for (const TemplateText& text : run.templates) {
    if (text.digest != genome.template_digest) continue;
    if (Digest(text.text) != text.digest) {
      throw Error(
          fmt::format("run {}: the stored text of template {} is damaged; go back to a copy of the database", run.id, text.name));
    }
    std::string source = render(text, genome);
    const std::string& expected = record.evaluation.source_digest;
    if (!expected.empty() && Digest(source) != expected) {
      throw Error(
          fmt::format("candidate {}: rendered again, it is not the source that was measured; use the evo that made the run ({})",
                      record.candidate.id, run.tool_version));
    }
    return source;
  }
  throw Error(fmt::format("candidate {}: its template {} is not stored with run {}; go back to a copy of the database",
                          record.candidate.id, genome.template_name, run.id));
}

}  // namespace evo
