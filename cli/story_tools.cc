#include "cli/story_tools.h"

#include <utility>

#include "mutators/mutator_set.h"

namespace evo {

StoryTools MakeStoryTools(SourceRenderer render) {
  const MutatorSet mutators;
  StoryTools tools{{}, mutators.AllPromises(), {}};
  if (render) {
    tools.render = [render = std::move(render)](const RunRecord& run, const CandidateRecord& record) {
      return RenderStored(render, run, record);
    };
  }
  for (const auto& mutator : mutators.all()) tools.descriptions[std::string(mutator->name())] = mutator->description();
  return tools;
}

}  // namespace evo
