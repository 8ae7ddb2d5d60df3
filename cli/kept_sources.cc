#include "cli/kept_sources.h"

#include <algorithm>

namespace evo {
namespace {

std::string KeyOf(const CandidateRecord& record) { return GenomeHash(record.candidate.genome) + record.evaluation.source_digest; }

}  // namespace

std::string KeptSources::Render(const RunRecord& run, const CandidateRecord& record) {
  const std::string key = KeyOf(record);
  if (const std::string* found = Find(key)) return *found;
  std::string source = RenderNew(run, record);
  if (source.size() > most_bytes_) return source;
  bytes_ += source.size();
  kept_[key] = {source, questions_};
  while (bytes_ > most_bytes_) {
    const auto oldest = std::min_element(kept_.begin(), kept_.end(),
                                         [](const auto& a, const auto& b) { return a.second.asked < b.second.asked; });
    bytes_ -= oldest->second.source.size();
    kept_.erase(oldest);
  }
  return source;
}

std::string KeptSources::RenderOnce(const RunRecord& run, const CandidateRecord& record) {
  const std::string* found = Find(KeyOf(record));
  return found != nullptr ? *found : RenderNew(run, record);
}

const std::string* KeptSources::Find(const std::string& key) {
  ++questions_;
  const auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  found->second.asked = questions_;
  return &found->second.source;
}

std::string KeptSources::RenderNew(const RunRecord& run, const CandidateRecord& record) {
  if (!render_) render_ = make_();
  return RenderStored(render_, run, record);
}

}  // namespace evo
