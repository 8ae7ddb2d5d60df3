#include "import/flat_namespaces.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/token.h"

namespace evo {
namespace {

// Functions that every kernel has: one of such a name in a namespace would be an overload of it, or take its place.
constexpr std::array<std::string_view, 44> kEverywhere{
    "abs",   "acos", "asin",  "atan",  "atan2", "cbrt",  "ceil",  "copysign", "cos",  "cosh",   "erf",
    "exp",   "exp2", "expm1", "fabs",  "floor", "fma",   "fmax",  "fmin",     "fmod", "hypot",  "isinf",
    "isnan", "log",  "log10", "log1p", "log2",  "max",   "min",   "norm",     "pow",  "round",  "rsqrt",
    "sin",   "sinh", "sqrt",  "tan",   "tanh",  "trunc", "clock", "printf",   "swap", "assert", "rint"};

constexpr std::string_view kLaunchLine = "// evo:launch ";

class Flattening {
 public:
  explicit Flattening(const std::string& text) : text_(text), tokens_(Tokenize(text)), gone_(text.size(), false) {}

  std::optional<FlatText> Run() {
    if (!RemoveScopes()) return std::nullopt;
    RemoveNames();
    FlatText flat{"", names_};
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size() - 1) + 1;
      AddLine(at, end, flat.text);
      at = end;
    }
    return flat;
  }

 private:
  std::string_view Token(std::size_t at) const {
    return at < tokens_.size() ? std::string_view(text_).substr(tokens_[at].begin, tokens_[at].size()) : std::string_view();
  }
  void Remove(std::size_t token) { std::fill(gone_.begin() + tokens_[token].begin, gone_.begin() + tokens_[token].end, true); }

  // The braces of namespaces with their heads. False if there are none, if one gets another name, or if one has a function that
  // is called like one of CUDA's.
  bool RemoveScopes() {
    std::vector<bool> open;  // whether each brace is a namespace's
    bool any = false;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const bool outside = std::find(open.begin(), open.end(), false) == open.end();
      if (Token(at) == "namespace" && outside && (at == 0 || Token(at - 1) != "using")) {
        std::size_t brace = at + 1;
        while (brace < tokens_.size() && Token(brace) != "{" && Token(brace) != "=" && Token(brace) != ";") ++brace;
        if (Token(brace) != "{") return false;
        for (std::size_t part = at + 1; part < brace; ++part) {
          if (Token(part) != "::") names_.emplace(Token(part));
        }
        if (at > 0 && Token(at - 1) == "inline") Remove(at - 1);
        for (std::size_t part = at; part <= brace; ++part) Remove(part);
        open.push_back(true);
        any = true;
        at = brace;
      } else if (Token(at) == "{") {
        open.push_back(false);
      } else if (Token(at) == "}" && !open.empty()) {
        if (open.back()) Remove(at);
        open.pop_back();
      } else if (!open.empty() && outside && Token(at + 1) == "(" &&
                 std::find(kEverywhere.begin(), kEverywhere.end(), Token(at)) != kEverywhere.end()) {
        return false;
      }
    }
    return any;
  }

  // `using namespace a;`, and `a::` where it is one of them, in launch lines as well.
  void RemoveNames() {
    for (std::size_t at = 0; at + 1 < tokens_.size(); ++at) {
      if (Token(at) == "using" && Token(at + 1) == "namespace") {
        std::size_t end = at + 2;
        while (end < tokens_.size() && (names_.contains(std::string(Token(end))) || Token(end) == "::")) ++end;
        for (std::size_t part = at; Token(end) == ";" && part <= end; ++part) Remove(part);
      } else if (names_.contains(std::string(Token(at))) && Token(at + 1) == "::") {
        Remove(at);
        Remove(at + 1);
      }
    }
    for (std::size_t line = text_.find(kLaunchLine); line != std::string::npos; line = text_.find(kLaunchLine, line + 1)) {
      const std::size_t end = std::min(text_.find('\n', line), text_.size());
      const std::string text = text_.substr(line + kLaunchLine.size(), end - line - kLaunchLine.size());
      const std::vector<SourceRange> words = Tokenize(text);
      for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const bool named = names_.contains(text.substr(words[i].begin, words[i].size()));
        if (!named || text.compare(words[i + 1].begin, 2, "::") != 0) continue;
        const auto begin = gone_.begin() + static_cast<std::ptrdiff_t>(line + kLaunchLine.size());
        std::fill(begin + words[i].begin, begin + words[i + 1].end, true);
      }
    }
  }

  // A line of which nothing is left but a comment on the brace that closed a namespace goes as a whole.
  void AddLine(std::size_t begin, std::size_t end, std::string& flat) const {
    std::string kept;
    bool changed = false;
    for (std::size_t at = begin; at < end; ++at) {
      changed = changed || gone_[at];
      if (!gone_[at]) kept += text_[at];
    }
    const std::size_t first = kept.find_first_not_of(" \t\n");
    if (changed && (first == std::string::npos || kept.compare(first, 2, "//") == 0) &&
        kept.find(kLaunchLine) == std::string::npos)
      return;
    flat += kept;
  }

  const std::string& text_;
  std::vector<SourceRange> tokens_;
  std::vector<bool> gone_;
  std::set<std::string> names_;
};

}  // namespace

std::optional<FlatText> WithoutNamespaces(const std::string& text) { return Flattening(text).Run(); }

}  // namespace evo
