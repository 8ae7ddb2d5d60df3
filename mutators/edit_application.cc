#include "mutators/edit_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "kernel_templates/renderer.h"

namespace evo {
namespace {

struct Splice {
  std::uint32_t begin;
  std::uint32_t end;
  std::string text;
};

// A statement taken away leaves no empty line behind.
Splice WithoutItsLine(const std::string& text, Splice splice) {
  std::uint32_t begin = splice.begin;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  std::uint32_t end = splice.end;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  const bool alone = (begin == 0 || text[begin - 1] == '\n') && end < text.size() && text[end] == '\n';
  return alone ? Splice{begin, end + 1, ""} : splice;
}

}  // namespace

std::variant<std::string, EditDropped> ApplyEdit(const SyntaxTree& tree, const Edit& edit) {
  std::vector<int> nodes;
  for (const Anchor& anchor : edit.anchors) {
    const auto node = tree.Find(anchor);
    if (!node) return EditDropped{fmt::format("{}: its {} in {} is gone or no longer unique", edit.op, anchor.kind, anchor.function.empty() ? "the file" : anchor.function)};
    nodes.push_back(*node);
  }
  std::vector<Splice> splices;
  for (const SourceChange& change : edit.source) {
    const SourceRange range = tree.node(nodes.at(change.anchor)).range;
    if (change.placement == Placement::kBefore) splices.push_back({range.begin, range.begin, change.text});
    else if (change.placement == Placement::kAfter) splices.push_back({range.end, range.end, change.text});
    else if (change.text.empty()) splices.push_back(WithoutItsLine(tree.text(), {range.begin, range.end, ""}));
    else splices.push_back({range.begin, range.end, change.text});
  }
  std::stable_sort(splices.begin(), splices.end(), [](const Splice& a, const Splice& b) { return a.begin < b.begin; });
  std::string text;
  std::uint32_t copied = 0;
  for (const Splice& splice : splices) {
    if (splice.begin < copied) return EditDropped{fmt::format("{}: its changes overlap", edit.op)};
    text += tree.text().substr(copied, splice.begin - copied) + splice.text;
    copied = splice.end;
  }
  text += tree.text().substr(copied);
  try {
    for (const LaunchChange& change : edit.launch) {
      auto changed = RenderLaunchChange(text, change);
      if (!changed) return EditDropped{fmt::format("{}: no launch line of {}", edit.op, change.kernel)};
      text = std::move(*changed);
    }
  } catch (const Error& error) {
    return EditDropped{fmt::format("{}: {}", edit.op, error.what())};
  }
  return text;
}

}  // namespace evo
