#include "syntax/syntax_tree.h"

#include <algorithm>
#include <utility>

#include "core/digest.h"

namespace evo {
namespace {

// 64 bits are enough to distinguish the nodes of one file, and keep genomes short.
constexpr std::size_t kDigestLength = 16;
constexpr std::string_view kBlock = "CompoundStmt";
const std::string kNone;

std::size_t Index(int node) { return static_cast<std::size_t>(node); }

}  // namespace

std::pair<std::size_t, std::size_t> SyntaxTree::TokenSpan(const SourceRange& range) const {
  const auto before = [](const SourceRange& token, std::uint32_t offset) { return token.begin < offset; };
  const auto first = std::lower_bound(tokens_.begin(), tokens_.end(), range.begin, before);
  const auto last = std::lower_bound(first, tokens_.end(), range.end, before);
  return {static_cast<std::size_t>(first - tokens_.begin()), static_cast<std::size_t>(last - tokens_.begin())};
}

const SyntaxTree* SyntaxTree::plain() const {
  if (const auto find = std::exchange(find_plain_, nullptr)) plain_ = find(*this);
  return plain_.get();
}

std::shared_ptr<const SyntaxTree> SyntaxTree::Reparsed(const std::string& text) const {
  auto other = parse_ ? parse_(text) : nullptr;
  return other && other->errors_.size() <= errors_.size() ? other : nullptr;
}

std::vector<std::string_view> SyntaxTree::Tokens(const SourceRange& range) const {
  const auto [first, last] = TokenSpan(range);
  std::vector<std::string_view> spelled;
  for (std::size_t i = first; i < last; ++i) spelled.push_back(Text(tokens_[i]));
  return spelled;
}

int SyntaxTree::EndOf(int index) const {
  while (!node(index).children.empty()) index = node(index).children.back();
  return index + 1;
}

std::string_view SyntaxTree::Operator(int index) const {
  const SyntaxNode& operation = node(index);
  if (operation.kind_name == "BinaryOperator" || operation.kind_name == "CompoundAssignOperator") {
    if (operation.children.size() != 2) return {};
    const SourceRange between{node(operation.children[0]).range.end, node(operation.children[1]).range.begin};
    if (between.begin >= between.end) return {};
    const auto [first, last] = TokenSpan(between);
    return first == last ? std::string_view{} : Text(tokens_[first]);
  }
  if (operation.kind_name == "UnaryOperator" && operation.children.size() == 1) {
    const auto [first, last] = TokenSpan(operation.range);
    if (first == last) return {};
    const bool prefix = node(operation.children[0]).range.begin > operation.range.begin;
    if (prefix) return Text(tokens_[first]);
    return Text(tokens_[Text(tokens_[last - 1]) == ";" && last - first > 1 ? last - 2 : last - 1]);
  }
  return {};
}

void SyntaxTree::ComputeUses() {
  uses_.assign(nodes_.size(), {});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const SyntaxNode& node = nodes_[i];
    if (node.kind_name == "DeclRefExpr" && node.refers_to >= 0) uses_[Index(node.refers_to)].push_back(static_cast<int>(i));
    for (const int hidden : node.hidden) uses_[Index(hidden)].push_back(static_cast<int>(i));
  }
}

void SyntaxTree::ComputeDigests() {
  tokens_ = Tokenize(text_);
  std::vector<SourceRange> blocks;  // in pre-order: an outer block comes before those inside it
  for (const SyntaxNode& node : nodes_) {
    if (node.kind_name == kBlock) blocks.push_back(node.range);
  }
  digests_.clear();
  for (const SyntaxNode& node : nodes_) {
    if (node.kind_name == kPragmaKind) {
      digests_.push_back(Digest(Text(node.range)).substr(0, kDigestLength));
      continue;
    }
    const auto [first, last] = TokenSpan(node.range);
    auto block = std::lower_bound(blocks.begin(), blocks.end(), node.range.begin,
                                  [](const SourceRange& b, std::uint32_t offset) { return b.begin < offset; });
    const bool whole = node.kind_name == kBlock;
    std::string spelled;
    for (std::size_t i = first; i < last;) {
      while (!whole && block != blocks.end() && block->begin < tokens_[i].begin) ++block;
      if (!whole && block != blocks.end() && block->begin == tokens_[i].begin && node.range.Contains(*block)) {
        spelled += "{}";
        i = std::max(i + 1, TokenSpan(*block).second);
      } else {
        spelled += Text(tokens_[i++]);
      }
      spelled += ' ';
    }
    digests_.push_back(Digest(spelled).substr(0, kDigestLength));
  }
}

std::string SyntaxTree::FunctionName(int index) const {
  const int function = node(index).function;
  return function < 0 ? "" : node(function).name;
}

std::vector<int> SyntaxTree::Equals(const std::string& function, const std::string& kind, const std::string& tokens) const {
  std::vector<int> equals;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (digests_[i] != tokens || nodes_[i].kind_name != kind) continue;
    if (FunctionName(static_cast<int>(i)) == function) equals.push_back(static_cast<int>(i));
  }
  return equals;
}

const std::string& SyntaxTree::ParentDigest(int index) const {
  int parent = node(index).parent;
  while (parent >= 0 && node(parent).kind_name == kBlock) parent = node(parent).parent;
  // The root's digest is not used, since it changes with every edit.
  return parent <= 0 ? kNone : digests_[Index(parent)];
}

const std::string& SyntaxTree::SiblingDigest(int index, int step) const {
  const int parent = node(index).parent;
  if (parent < 0) return kNone;
  const std::vector<int>& siblings = node(parent).children;
  auto other = std::find(siblings.begin(), siblings.end(), index) - siblings.begin();
  do {
    other += step;
    if (other < 0 || other >= static_cast<std::ptrdiff_t>(siblings.size())) return kNone;
  } while (node(siblings[static_cast<std::size_t>(other)]).kind_name == kPragmaKind);
  return digests_[Index(siblings[static_cast<std::size_t>(other)])];
}

std::vector<int> SyntaxTree::PathOf(int index) const {
  std::vector<int> path;
  const int stop = std::max(node(index).function, 0);
  for (int at = index; at != stop && node(at).parent >= 0; at = node(at).parent) {
    const std::vector<int>& siblings = node(node(at).parent).children;
    path.push_back(static_cast<int>(std::find(siblings.begin(), siblings.end(), at) - siblings.begin()));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Anchor SyntaxTree::AnchorOf(int index) const {
  Anchor anchor;
  anchor.function = FunctionName(index);
  anchor.kind = node(index).kind_name;
  anchor.tokens = digests_[Index(index)];
  const std::vector<int> equals = Equals(anchor.function, anchor.kind, anchor.tokens);
  anchor.ordinal = static_cast<int>(std::find(equals.begin(), equals.end(), index) - equals.begin());
  anchor.parent = ParentDigest(index);
  anchor.before = SiblingDigest(index, -1);
  anchor.after = SiblingDigest(index, 1);
  anchor.path = PathOf(index);
  return anchor;
}

std::optional<int> SyntaxTree::Find(const Anchor& anchor) const {
  const std::vector<int> equals = Equals(anchor.function, anchor.kind, anchor.tokens);
  std::vector<int> best;
  int most = -1;
  for (const int candidate : equals) {
    const int agreeing = (ParentDigest(candidate) == anchor.parent) + (SiblingDigest(candidate, -1) == anchor.before) +
                         (SiblingDigest(candidate, 1) == anchor.after);
    if (agreeing > most) best.clear();
    if (agreeing >= most) best.push_back(candidate);
    most = std::max(most, agreeing);
  }
  if (best.size() == 1) return best.front();
  // Several nodes have the same neighbours, as in a sequence of equal statements, so the ordinal decides.
  if (anchor.ordinal >= 0 && Index(anchor.ordinal) < equals.size()) {
    const int named = equals[Index(anchor.ordinal)];
    if (std::find(best.begin(), best.end(), named) != best.end()) return named;
  }
  std::erase_if(best, [&](int candidate) { return PathOf(candidate) != anchor.path; });
  if (best.size() == 1) return best.front();
  return std::nullopt;
}

}  // namespace evo
