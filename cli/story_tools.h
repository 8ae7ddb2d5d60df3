#pragma once

#include "story/story.h"

namespace evo {

// What this evo knows of its operators, for telling a story. `render` may be empty.
StoryTools MakeStoryTools(SourceRenderer render);

}  // namespace evo
