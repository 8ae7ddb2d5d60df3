#include "evaluator/compiler/rules/source_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace evo {
namespace {

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool IsNamePart(char c) { return IsNameStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

// A text whose continued lines are joined, with the line that each character had.
class JoinedText {
 public:
  std::optional<SourceObjection> Join(std::string_view source) {
    int line = 1;
    for (std::size_t i = 0; i < source.size(); ++i) {
      const char c = source[i];
      if (auto objection = Control(source, i, line)) return objection;
      if (c == '\\') {
        const std::size_t next = source.find_first_not_of(" \t\r\f\v", i + 1);
        const bool ends_line = next == std::string_view::npos || source[next] == '\n';
        if (ends_line && (next == std::string_view::npos || next != i + 1))
          return SourceObjection{line, "a backslash with blanks between it and the end of its line",
                                 "some compilers join the lines and some do not; remove the blanks"};
        if (ends_line) {
          i = next;
          ++line;
          continue;
        }
      }
      text_.push_back(c);
      lines_.push_back(line);
      if (c == '\n') ++line;
    }
    return std::nullopt;
  }

  std::size_t size() const { return text_.size(); }
  char operator[](std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  std::string_view text() const { return text_; }
  int line(std::size_t at) const { return lines_.empty() ? 1 : lines_[std::min(at, lines_.size() - 1)]; }

 private:
  static std::optional<SourceObjection> Control(std::string_view source, std::size_t i, int line) {
    const auto byte = static_cast<unsigned char>(source[i]);
    const bool carriage = byte == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
    if (byte >= 32 || byte == '\n' || byte == '\t' || carriage) return std::nullopt;
    return SourceObjection{line, fmt::format("the control character {}", byte), "compilers differ about it; remove it"};
  }

  std::string text_;
  std::vector<int> lines_;
};

class Tokeniser {
 public:
  Tokeniser(std::string_view source, SourceTokens& tokens) : tokens_(tokens) { objection_ = text_.Join(source); }

  std::optional<SourceObjection> Run() {
    while (!objection_ && at_ < text_.size()) Step();
    EndDirective();
    return std::move(objection_);
  }

 private:
  void Refuse(std::string what, std::string remedy) {
    if (!objection_) objection_ = SourceObjection{text_.line(at_), std::move(what), std::move(remedy)};
  }

  bool Has(std::string_view words) const { return text_.text().substr(at_, words.size()) == words; }

  void Step() {
    const char c = text_[at_];
    if (c == '\n') {
      EndDirective();
      line_starts_ = true;
      ++at_;
    } else if (IsBlank(c)) {
      Keep(' ');
      ++at_;
    } else if (Has("//")) {
      Comment(text_.text().find('\n', at_));
    } else if (Has("/*")) {
      const std::size_t close = text_.text().find("*/", at_ + 2);
      if (close == std::string_view::npos) return Refuse("a comment that does not end", "close it");
      Comment(close + 2);
      Keep(' ');
    } else if (c == '#' && std::exchange(line_starts_, false)) {
      directive_ = SourceDirective{{}, {}, {}, text_.line(at_)};
      in_directive_ = true;
      ++at_;
    } else {
      line_starts_ = false;
      Token();
    }
  }

  void Comment(std::size_t end) {
    end = std::min(end, text_.size());
    if (text_.text().substr(at_, end - at_).find("?\?/") != std::string_view::npos)
      return Refuse("a trigraph in a comment", "some compilers read it as a backslash; remove it");
    at_ = end;
  }

  void Token() {
    const char c = text_[at_];
    std::size_t end = at_ + 1;
    if (IsNameStart(c)) {
      while (IsNamePart(text_[end])) ++end;
      if (text_[end] == '"' && text_[end - 1] == 'R') return Refuse("a raw string", "write it as an ordinary string");
      return Add(SourceTokenKind::kName, end);
    }
    if (IsDigit(c) || (c == '.' && IsDigit(text_[end]))) {
      while (IsNamePart(text_[end]) || text_[end] == '.' || (text_[end] == '\'' && IsNamePart(text_[end + 1]))) ++end;
      return Add(SourceTokenKind::kNumber, end);
    }
    if (c == '"' || c == '\'') return Literal(c);
    return Punctuation();
  }

  void Literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    if (text_[end] != quote || end >= text_.size()) {
      // An apostrophe in an #error line or in what a condition leaves out ends with its line.
      if (in_directive_) return Add(SourceTokenKind::kLiteral, std::min(end, text_.size()));
      return Refuse(fmt::format("a {} that does not end on its line", quote == '"' ? "string" : "character"), "close it");
    }
    ++end;
    if (text_.text().substr(at_, end - at_).find("??") != std::string_view::npos)
      return Refuse("two question marks in a literal", "some compilers read a trigraph; write `?\" \"?`");
    Add(SourceTokenKind::kLiteral, end);
  }

  void Punctuation() {
    constexpr std::array<std::string_view, 4> kOtherSpellings{"??", "%:", "<%", "%>"};
    for (const std::string_view refused : kOtherSpellings) {
      if (Has(refused)) return Refuse(fmt::format("`{}`", refused), "trigraphs and digraphs are refused; write the character");
    }
    if (text_[at_] == '\\') return Refuse("a backslash in code", "write names in plain ASCII");
    if (static_cast<unsigned char>(text_[at_]) >= 127)
      return Refuse("a character that is not ASCII", "write names in plain ASCII");
    Add(SourceTokenKind::kPunctuation, at_ + (Has("##") ? 2 : 1));
  }

  void Keep(char c) {
    if (in_directive_ && !directive_.word.empty()) directive_.rest.push_back(c);
  }

  void Add(SourceTokenKind kind, std::size_t end) {
    SourceToken token{kind, std::string(text_.text().substr(at_, end - at_)), text_.line(at_)};
    at_ = end;
    if (!in_directive_) {
      tokens_.code.push_back(std::move(token));
    } else if (directive_.word.empty() && directive_.tokens.empty() && directive_.rest.empty()) {
      directive_.word = token.text;
    } else {
      directive_.rest += token.text;
      directive_.tokens.push_back(std::move(token));
    }
  }

  void EndDirective() {
    if (std::exchange(in_directive_, false)) tokens_.directives.push_back(std::move(directive_));
  }

  SourceTokens& tokens_;
  JoinedText text_;
  std::optional<SourceObjection> objection_;
  std::size_t at_ = 0;
  bool line_starts_ = true;
  bool in_directive_ = false;
  SourceDirective directive_;
};

}  // namespace

std::optional<SourceObjection> Tokenise(std::string_view source, SourceTokens& tokens) { return Tokeniser(source, tokens).Run(); }

}  // namespace evo
