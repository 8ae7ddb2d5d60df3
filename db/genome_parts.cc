#include "db/genome_parts.h"

namespace evo {

Genome GenomeParts::Whole() const {
  Genome genome{head->template_name, head->template_digest, head->parameters, {}};
  genome.edits.reserve(head->edits.size() + edits.size());
  genome.edits = head->edits;
  for (const std::shared_ptr<const Edit>& edit : edits) genome.edits.push_back(*edit);
  return genome;
}

}  // namespace evo
