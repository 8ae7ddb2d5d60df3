#include "mutators/breeding/alike_edit.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/search_space.h"

namespace evo {
namespace {

// Of the words of two edits, those that both have. What replaces a loop holds its body, in which other edits may have changed a
// little.
constexpr double kAlike = 0.5;
// What the place counts beside the words: it decides between hints that are alike for every loop.
constexpr double kPlace = 0.1;

using Words = std::map<std::string, int>;

void AddWords(Words& words, std::string_view text) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) ++words[word];
    word.clear();
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_') {
      word += c;
      continue;
    }
    end_word();
    if (std::isspace(byte) == 0) ++words[std::string(1, c)];
  }
  end_word();
}

template <class Changes>
Words WordsOf(const Changes& changes, const std::vector<LaunchChange>& launch) {
  Words words;
  for (const auto& change : changes) AddWords(words, change.text);
  for (const LaunchChange& change : launch) AddWords(words, change.kernel + " " + change.field + " " + change.text);
  return words;
}

// 1: the same words equally often; 0: none in common.
double Likeness(const Words& a, const Words& b) {
  int common = 0;
  int all = 0;
  for (const auto& [word, count] : a) {
    const auto other = b.find(word);
    common += other == b.end() ? 0 : std::min(count, other->second);
    all += count;
  }
  for (const auto& [word, count] : b) all += count;
  return all == 0 ? 1 : 2.0 * common / all;
}

// How much of the place of an edit a proposal has, 0 to 1; nullopt if it is in another function, or changes another kind of node.
std::optional<double> PlaceLikeness(const MutationContext& context, const Proposal& proposal, const Edit& edit) {
  if (proposal.changes.empty() || edit.source.empty())
    return proposal.changes.empty() && edit.source.empty() ? std::optional(1.0) : std::nullopt;
  const Anchor anchor = context.tree.AnchorOf(proposal.changes.front().node);
  const Anchor& other = edit.anchors.at(edit.source.front().anchor);
  if (anchor.function != other.function || anchor.kind != other.kind) return std::nullopt;
  const bool same[] = {anchor.tokens == other.tokens, anchor.parent == other.parent, anchor.before == other.before,
                       anchor.after == other.after,   anchor.path == other.path,     anchor.ordinal == other.ordinal};
  return static_cast<double>(std::count(std::begin(same), std::end(same), true)) / static_cast<double>(std::size(same));
}

}  // namespace

std::optional<Genome> WithAlikeEdit(const SourceMutator& mutator, const MutationContext& context, const Edit& edit) {
  const std::vector<Proposal> proposals = mutator.Proposals(context);
  const Words wanted = WordsOf(edit.source, edit.launch);
  const Proposal* most = nullptr;
  double greatest = 0;
  for (const Proposal& proposal : proposals) {
    const std::optional<double> place = PlaceLikeness(context, proposal, edit);
    if (!place) continue;
    const double words = Likeness(WordsOf(proposal.changes, proposal.launch), wanted);
    const double likeness = words + kPlace * *place;
    if (words < kAlike || likeness <= greatest) continue;
    greatest = likeness;
    most = &proposal;
  }
  if (most == nullptr) return std::nullopt;
  Genome child = context.genome;
  child.edits.push_back(mutator.EditOf(context, *most));
  const std::vector<BroughtParameter>& brings = child.edits.back().brings;
  for (const BroughtParameter& brought : brings) child.parameters[brought.name] = brought.initial;
  const Parameters initial = child.parameters;
  for (std::size_t i = 0; i < std::min(brings.size(), edit.brings.size()); ++i) {
    const std::int64_t value = edit.brings[i].initial;
    if (std::find(brings[i].values.begin(), brings[i].values.end(), value) != brings[i].values.end())
      child.parameters[brings[i].name] = value;
  }
  if (SpaceOf(context.kernel_template.space, child).Violated(child.parameters)) child.parameters = initial;
  return child;
}

}  // namespace evo
