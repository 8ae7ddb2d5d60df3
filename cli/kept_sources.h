#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "story/rendering.h"

namespace evo {

// Renders sources of candidates and keeps what it rendered last, because a page that is served asks for the champion's line again
// and again. Not thread-safe.
class KeptSources {
 public:
  // `make` is called when the first source is asked for. Keeps at most `most_bytes` of sources, those that were asked for last.
  KeptSources(std::function<SourceRenderer()> make, std::size_t most_bytes) : make_(std::move(make)), most_bytes_(most_bytes) {}

  // Throws what RenderStored throws.
  std::string Render(const RunRecord& run, const CandidateRecord& record);
  // The same for one that is not asked for again: it is not kept.
  std::string RenderOnce(const RunRecord& run, const CandidateRecord& record);
  std::size_t bytes() const { return bytes_; }

 private:
  // Null if it is not kept.
  const std::string* Find(const std::string& key);
  std::string RenderNew(const RunRecord& run, const CandidateRecord& record);

  struct Kept {
    std::string source;
    std::uint64_t asked = 0;  // the number of the last question for it
  };

  std::function<SourceRenderer()> make_;
  SourceRenderer render_;
  std::size_t most_bytes_;
  std::map<std::string, Kept> kept_;  // by genome and digest
  std::size_t bytes_ = 0;             // of the sources in it
  std::uint64_t questions_ = 0;
};

}  // namespace evo
