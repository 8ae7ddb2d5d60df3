#include "syntax/syntax_tree.h"

#include <algorithm>
#include <cctype>

#include "core/digest.h"

namespace evo {
namespace {

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// 64 bits are plenty to tell the nodes of one source apart, and keep genomes short.
constexpr std::size_t kDigestDigits = 16;

}  // namespace

std::string SpelledTokens(std::string_view text) {
  std::string out;
  bool gap = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
      gap = true;
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t close = text.find("*/", i + 2);
      i = close == std::string_view::npos ? text.size() : close + 2;
      gap = true;
    } else if (std::isspace(static_cast<unsigned char>(text[i]))) {
      gap = true;
      ++i;
    } else {
      if (gap && !out.empty() && IsWordPart(out.back()) && IsWordPart(text[i])) out += ' ';
      gap = false;
      out += text[i++];
    }
  }
  return out;
}

std::string_view SyntaxTree::Text(int index) const {
  const SourceRange range = node(index).range;
  return std::string_view(text_).substr(range.begin, range.size());
}

std::vector<int> SyntaxTree::Descendants(int index) const {
  std::vector<int> found;
  std::vector<int> open(node(index).children.rbegin(), node(index).children.rend());
  while (!open.empty()) {
    const int next = open.back();
    open.pop_back();
    found.push_back(next);
    const std::vector<int>& children = node(next).children;
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return found;
}

int SyntaxTree::AncestorOfKind(int index, std::string_view kind_name) const {
  for (int i = node(index).parent; i >= 0; i = node(i).parent) {
    if (node(i).kind_name == kind_name) return i;
  }
  return -1;
}

std::string SyntaxTree::TokenDigest(int index) const {
  return index < 0 ? "" : Digest(SpelledTokens(Text(index))).substr(0, kDigestDigits);
}

int SyntaxTree::Sibling(int index, int offset) const {
  if (node(index).parent < 0) return -1;
  const std::vector<int>& siblings = node(node(index).parent).children;
  const auto place = std::find(siblings.begin(), siblings.end(), index) - siblings.begin() + offset;
  return place < 0 || place >= static_cast<std::ptrdiff_t>(siblings.size()) ? -1 : siblings[static_cast<std::size_t>(place)];
}

std::string SyntaxTree::FunctionOf(int index) const {
  const int function = node(index).function;
  return function < 0 ? "" : node(function).name;
}

Anchor SyntaxTree::AnchorOf(int index) const {
  Anchor anchor{FunctionOf(index), node(index).kind_name, TokenDigest(index), 0, "", TokenDigest(Sibling(index, -1)),
                TokenDigest(Sibling(index, 1)), {}};
  // The root's text is the whole file: every edit elsewhere would change its digest.
  if (node(index).parent > 0) anchor.parent = TokenDigest(node(index).parent);
  for (int i = 0; i < index; ++i) {
    if (node(i).kind == node(index).kind && FunctionOf(i) == anchor.function && TokenDigest(i) == anchor.tokens) ++anchor.ordinal;
  }
  for (int i = index; i > 0 && i != node(index).function; i = node(i).parent) {
    const std::vector<int>& siblings = node(node(i).parent).children;
    anchor.path.insert(anchor.path.begin(), static_cast<int>(std::find(siblings.begin(), siblings.end(), i) - siblings.begin()));
  }
  return anchor;
}

std::optional<int> SyntaxTree::Find(const Anchor& anchor) const {
  std::vector<int> equals;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    if (node(i).kind_name == anchor.kind && FunctionOf(i) == anchor.function && TokenDigest(i) == anchor.tokens) equals.push_back(i);
  }
  if (equals.size() == 1) return equals.front();
  int best = -1;
  std::vector<int> agreeing;
  for (const int i : equals) {
    const Anchor here = AnchorOf(i);
    const int agreement = (here.parent == anchor.parent) + (here.before == anchor.before) + (here.after == anchor.after);
    if (agreement > best) agreeing.clear();
    best = std::max(best, agreement);
    if (agreement == best) agreeing.push_back(i);
  }
  if (agreeing.size() == 1) return agreeing.front();
  for (const int i : agreeing) {
    const Anchor here = AnchorOf(i);
    if (here.ordinal == anchor.ordinal && here.path == anchor.path) return i;
  }
  return std::nullopt;
}

}  // namespace evo
