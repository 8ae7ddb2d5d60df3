#include "evaluator/compiler/host/host_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "evaluator/compiler/host/host_assembly.h"

namespace evo {
namespace {

enum class TokenKind { kIdentifier, kPunctuation, kOther, kDirective };

struct Token {
  TokenKind kind;
  std::size_t begin;
  std::size_t end;
  int line;
};

bool IsIdentifierStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsIdentifierPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Splits a source into tokens without comments and white space. A preprocessor line is one token.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> Run() {
    while (at_ < text_.size()) Step();
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = true;
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t close = text_.find("*/", at_ + 2);
      Skip(close == std::string_view::npos ? text_.size() : close + 2);
    } else if (c == '#' && line_start_) {
      Directive();
    } else {
      line_start_ = false;
      Word();
    }
  }

  void Skip(std::size_t end) {
    line_ += static_cast<int>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void Add(TokenKind kind, std::size_t end) {
    tokens_.push_back({kind, at_, end, line_});
    Skip(end);
  }

  void Directive() {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    Add(TokenKind::kDirective, std::min(end, text_.size()));
  }

  void Word() {
    std::size_t end = at_ + 1;
    const char c = text_[at_];
    if (IsIdentifierStart(c)) {
      while (end < text_.size() && IsIdentifierPart(text_[end])) ++end;
      return Add(TokenKind::kIdentifier, end);
    }
    if (std::isdigit(static_cast<unsigned char>(c))) {
      while (end < text_.size() && (IsIdentifierPart(text_[end]) || text_[end] == '.' || text_[end] == '\'')) ++end;
      return Add(TokenKind::kOther, end);
    }
    if (c == '"' || c == '\'') {
      while (end < text_.size() && text_[end] != c) end += text_[end] == '\\' ? 2 : 1;
      return Add(TokenKind::kOther, std::min(end + 1, text_.size()));
    }
    Add(TokenKind::kPunctuation, end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  std::vector<Token> tokens_;
};

constexpr std::array kAssembly = {"asm", "__asm__", "__asm"};
constexpr std::array kClocks = {"clock", "clock64", "__globaltimer", "__nvvm_read_ptx_sreg_clock64", "globaltimer"};

// Names of the cpu device's own functions and of attributes that would exclude an access from the checks.
constexpr std::array<std::string_view, 4> kMachinery = {"evo_cpu", "__tsan", "__wrap_", "no_sanitize"};

bool NamesMachinery(std::string_view text) {
  return std::any_of(kMachinery.begin(), kMachinery.end(),
                     [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
}

class Rewriter {
 public:
  explicit Rewriter(const std::string& source) : source_(source), tokens_(Lexer(source).Run()) {}

  HostSource Run() {
    for (std::size_t i = 0; i < tokens_.size() && !result_.refusal; ++i) i = Visit(i);
    if (!result_.refusal) result_.text += source_.substr(copied_);
    return std::move(result_);
  }

 private:
  std::string_view Text(std::size_t i) const {
    return std::string_view(source_).substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }

  void Refuse(std::size_t i, const std::string& why) {
    result_.refusal = HostRefusal{fmt::format("line {}: {}", tokens_[i].line, why)};
  }

  // Copies the source up to `begin` and puts `text` in place of the range up to `end`, with as many line ends as the range had.
  void Replace(std::size_t begin, std::size_t end, std::string text) {
    result_.text += source_.substr(copied_, begin - copied_);
    const auto lines = std::count(source_.begin() + static_cast<std::ptrdiff_t>(begin),
                                  source_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    text.append(static_cast<std::size_t>(lines), '\n');
    result_.text += text;
    copied_ = end;
  }

  std::size_t Visit(std::size_t i) {
    const std::string_view text = Text(i);
    if ((tokens_[i].kind == TokenKind::kIdentifier || tokens_[i].kind == TokenKind::kDirective) && NamesMachinery(text)) {
      Refuse(i, fmt::format("`{}`: the cpu device's own names and attributes are not supported in kernels", text.substr(0, 80)));
    } else if (tokens_[i].kind == TokenKind::kDirective) {
      Directive(i);
    } else if (text == "{") {
      ++depth_;
    } else if (text == "}") {
      --depth_;
    } else if (tokens_[i].kind == TokenKind::kIdentifier) {
      if (std::find(kAssembly.begin(), kAssembly.end(), text) != kAssembly.end()) return Assembly(i);
      if (std::find(kClocks.begin(), kClocks.end(), text) != kClocks.end() && i + 1 < tokens_.size() && Text(i + 1) == "(")
        Refuse(i, "reads the clock");
      if (text == "__shared__") return Shared(i);
    }
    return i;
  }

  // `asm [volatile](..)`
  std::size_t Assembly(std::size_t at) {
    std::size_t open = at + 1;
    while (open < tokens_.size() && (Text(open) == "volatile" || Text(open) == "__volatile__")) ++open;
    if (open < tokens_.size() && Text(open) == "(") {
      const std::size_t close = Matching(open, tokens_.size());
      const auto call =
          HostAssembly(std::string_view(source_).substr(tokens_[open].end, tokens_[close].begin - tokens_[open].end));
      if (call) return Replace(tokens_[at].begin, tokens_[close].end, *call), close;
    }
    return Refuse(at, "inline PTX is not supported on the cpu device"), at;
  }

  void Directive(std::size_t i) {
    const std::string_view line = Text(i);
    std::size_t at = line.find_first_not_of("# \t");
    if (at == std::string_view::npos) return;
    if (line.find("__shared__") != std::string_view::npos)
      return Refuse(i, "shared memory declared in a macro is not supported on the cpu device");
    constexpr std::string_view kPragma = "pragma";
    if (line.substr(at, kPragma.size()) != kPragma) return;
    at = line.find_first_not_of(" \t", at + kPragma.size());
    constexpr std::string_view kUnroll = "unroll";
    if (at == std::string_view::npos || line.substr(at, kUnroll.size()) != kUnroll) return;
    std::string count(line.substr(at + kUnroll.size()));
    if (const std::size_t comment = count.find("//"); comment != std::string::npos) count.resize(comment);
    const bool full = count.find_first_not_of(" \t\r") == std::string::npos;
    // Without a count nvcc unrolls the whole loop. On the cpu device more than eight times gains nothing and takes longer to
    // compile.
    Replace(tokens_[i].begin, tokens_[i].end, fmt::format("EVO_CPU_UNROLL({})", full ? "8" : count));
  }

  // `[extern|static] __shared__ TYPE NAME[..][..], ...;`
  std::size_t Shared(std::size_t at) {
    if (depth_ == 0) return Refuse(at, "shared memory declared outside a function is not supported on the cpu device"), at;
    std::size_t first = at;
    bool dynamic = false;
    while (first > 0 && (Text(first - 1) == "extern" || Text(first - 1) == "static")) dynamic |= Text(--first) == "extern";
    std::size_t end = at + 1;
    while (end < tokens_.size() && Text(end) != ";") ++end;
    if (end == tokens_.size()) return Refuse(at, "a shared-memory declaration without its `;`"), at;
    std::vector<std::size_t> body;
    for (std::size_t i = at + 1; i < end; ++i) {
      if (Text(i) == "extern" || Text(i) == "static") {
        dynamic |= Text(i) == "extern";
      } else if (Text(i) == "__align__" || Text(i) == "alignas" || Text(i) == "__attribute__") {
        i = Matching(i + 1, end);
      } else {
        body.push_back(i);
      }
    }
    const auto name = NameIn(body);
    if (!name) return Refuse(at, "this shared-memory declaration is not understood on the cpu device"), at;
    Replace(tokens_[first].begin, tokens_[end].end, dynamic ? Dynamic(body, *name) : Static(body, *name));
    return end;
  }

  std::size_t Matching(std::size_t open, std::size_t end) const {
    int depth = 0;
    for (std::size_t i = open; i < end; ++i) {
      if (Text(i) == "(") ++depth;
      if (Text(i) == ")" && --depth == 0) return i;
    }
    return end - 1;
  }

  // The position in `body` of the first declared name: the identifier before the first `[` or `,` outside < >, or before the end.
  std::optional<std::size_t> NameIn(const std::vector<std::size_t>& body) const {
    int angle = 0;
    std::size_t i = 0;
    for (; i < body.size(); ++i) {
      const std::string_view text = Text(body[i]);
      if (text == "<") ++angle;
      if (text == ">") --angle;
      if (angle == 0 && (text == "[" || text == "," || text == "=")) break;
    }
    if (i < 2 || tokens_[body[i - 1]].kind != TokenKind::kIdentifier || (i < body.size() && Text(body[i]) == "="))
      return std::nullopt;
    return i - 1;
  }

  std::string Joined(const std::vector<std::size_t>& body, std::size_t from, std::size_t to) const {
    std::string text;
    for (std::size_t i = from; i < to; ++i) text += (text.empty() ? "" : " ") + std::string(Text(body[i]));
    // The two tokens of a `::` must not have a blank between them.
    for (std::size_t at; (at = text.find(": :")) != std::string::npos;) text.replace(at, 3, "::");
    return text;
  }

  std::string Dynamic(const std::vector<std::size_t>& body, std::size_t name) const {
    const std::string type = Joined(body, 0, name);
    return fmt::format("{0}* const {1} = evo_cpu::DynamicShared<{0}>();", type, Text(body[name]));
  }

  std::string Static(const std::vector<std::size_t>& body, std::size_t name) {
    const std::string type = Joined(body, 0, name);
    std::string text;
    for (std::size_t i = name; i < body.size();) {
      std::size_t stop = i + 1;
      int bracket = 0;
      while (stop < body.size() && (bracket > 0 || Text(body[stop]) != ",")) {
        if (Text(body[stop]) == "[" || Text(body[stop]) == "(") ++bracket;
        if (Text(body[stop]) == "]" || Text(body[stop]) == ")") --bracket;
        ++stop;
      }
      const unsigned slot = slots_++;
      text += fmt::format(
          "typedef {0} evo_cpu_shared_{1} {2}; evo_cpu_shared_{1}& {3} = evo_cpu::StaticShared<evo_cpu_shared_{1}>({1}); ", type,
          slot, Joined(body, i + 1, stop), Text(body[i]));
      i = stop + 1;
    }
    return text;
  }

  const std::string& source_;
  std::vector<Token> tokens_;
  HostSource result_;
  std::size_t copied_ = 0;
  int depth_ = 0;
  unsigned slots_ = 0;
};

}  // namespace

HostSource ToHostSource(const std::string& source) { return Rewriter(source).Run(); }

}  // namespace evo
