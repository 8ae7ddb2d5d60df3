#include "evaluator/compiler/rules/source_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "evaluator/compiler/rules/source_includes.h"
#include "evaluator/compiler/rules/source_pasting.h"

namespace evo {
namespace {

using Objection = std::optional<SourceObjection>;
using Kind = SourceTokenKind;

constexpr std::array<std::string_view, 11> kDirectives{"",       "define", "undef", "include", "if",    "ifdef",
                                                       "ifndef", "elif",   "else",  "endif",   "pragma"};

struct Refused {
  std::string_view name;
  std::string_view why;
};
constexpr std::string_view kCompilersMacro = "tells compilers apart; every compiler must see the same code";
constexpr std::string_view kAttribute = "attributes of one compiler are refused; CUDA's own, alignas and __align__ are known";
constexpr std::string_view kThread = "keeps data from launch to launch on the cpu device; use a local variable or evo:workspace";
constexpr std::string_view kAssembly = "is inline assembly of the host compiler; inline PTX is asm(\"...\")";

// Names that are refused wherever they stand, also where `##` could make them.
constexpr auto kRefused = std::to_array<Refused>({
    {"defined", "stands outside of an #if; write the condition there"},
    {"unix", kCompilersMacro},
    {"linux", kCompilersMacro},
    {"__cplusplus", kCompilersMacro},
    {"__func__", "differs between compilers; leave it out"},
    {"thread_local", kThread},
    {"_Thread_local", kThread},
    {"__thread", kThread},
    {"__attribute", kAttribute},
    {"__attribute__", kAttribute},
    {"__annotate__", kAttribute},
    {"__location__", kAttribute},
    {"__declspec", kAttribute},
    {"__pragma", "write the pragma as a line of its own"},
    {"_Pragma", "write the pragma as a line of its own"},
    {"__asm", kAssembly},
    {"__asm__", kAssembly},
    {"__host__", "marks code of the host; a kernel file has device code only, write __device__ alone or __host__ __device__"},
    {"__managed__", "is memory that the host shares; use a buffer of the task or evo:workspace"},
});

// Functions of the C library that act on the machine. NVRTC does not know them, so that a source may declare its own; g++ and
// nvcc could take the library's instead, also to set a variable of the host when an exported kernel's program starts.
constexpr std::string_view kHostFunction = "is a function of the host; choose another name";
constexpr auto kHostFunctions = std::to_array<std::string_view>({
    "at_quick_exit", "atexit",   "clearenv", "clone",     "connect",     "dlopen",        "dlsym",    "execl",   "execle",
    "execlp",        "execv",    "execve",   "execvp",    "execvpe",     "exit",          "fdopen",   "fexecve", "fopen",
    "fopen64",       "fork",     "freopen",  "getenv",    "kill",        "mkdtemp",       "mkostemp", "mkstemp", "mktemp",
    "mmap",          "mprotect", "on_exit",  "popen",     "posix_spawn", "posix_spawnp",  "ptrace",   "putenv",  "quick_exit",
    "raise",         "remove",   "rename",   "renameat",  "renameat2",   "secure_getenv", "setenv",   "setns",   "socket",
    "syscall",       "system",   "tmpfile",  "tmpfile64", "unlink",      "unsetenv",      "unshare",  "vfork",
});

// Beginnings of names that are refused, with the names that are allowed all the same.
struct RefusedPrefix {
  std::string_view prefix;
  std::string_view why;
  std::span<const std::string_view> allowed;
};
constexpr std::array<std::string_view, 4> kBuiltins{"__builtin_assume", "__builtin_assume_aligned", "__builtin_expect",
                                                    "__builtin_unreachable"};
constexpr std::string_view kUnknownBuiltin = "is a built-in function of one compiler; use CUDA's own functions";
constexpr auto kRefusedPrefixes = std::to_array<RefusedPrefix>({
    {"__builtin_", kUnknownBuiltin, kBuiltins},
    {"__has_", kCompilersMacro, {}},
    {"__is_identifier", kCompilersMacro, {}},
    {"__linux", kCompilersMacro, {}},
    {"__unix", kCompilersMacro, {}},
    {"__gnu_", kCompilersMacro, {}},
    {"__clang", kCompilersMacro, {}},
    {"__x86_64", kCompilersMacro, {}},
    {"__amd64", kCompilersMacro, {}},
    {"__i386", kCompilersMacro, {}},
    {"__i686", kCompilersMacro, {}},
    {"__k8", kCompilersMacro, {}},
    {"__pic", kCompilersMacro, {}},
    {"__pie", kCompilersMacro, {}},
    {"__nv_isnvrtc", kCompilersMacro, {}},
    {"evo_cpu", "is a name of evo's own", {}},
    {"__tsan", "is a name of evo's own", {}},
    {"__wrap_", "is a name of evo's own", {}},
    {"__gthread", "starts threads of the host", {}},
    {"pthread_", "starts threads of the host", {}},
});

// A name that begins with one or two underscores and a capital is the compiler's or the library's: __CUDA_ARCH__, _GLIBCXX_JOIN.
constexpr std::array<std::string_view, 8> kReservedAllowed{"__VA_ARGS__", "__VA_OPT__", "__NV_SATFINITE", "__NV_NOSAT",
                                                           "__NV_E4M3",   "__NV_E5M2",  "__NV_E2M1",      "_Float16"};

// A macro for NVRTC (nvrtc/include/nvcc_implicit.h).
constexpr std::string_view kPower = "pow";

template <std::size_t kCount>
bool Contains(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsReserved(std::string_view name) {
  const std::size_t underscores = name.starts_with("__") ? 2 : name.starts_with("_") ? 1 : 0;
  return underscores > 0 && name.size() > underscores && std::isupper(static_cast<unsigned char>(name[underscores])) != 0 &&
         !Contains(kReservedAllowed, name);
}

std::optional<std::string_view> WhyRefused(std::string_view name) {
  for (const Refused& refused : kRefused) {
    if (name == refused.name) return refused.why;
  }
  if (Contains(kHostFunctions, name)) return kHostFunction;
  for (const RefusedPrefix& refused : kRefusedPrefixes) {
    const auto& allowed = refused.allowed;
    if (name.starts_with(refused.prefix) && std::find(allowed.begin(), allowed.end(), name) == allowed.end()) return refused.why;
  }
  if (IsReserved(name)) return kCompilersMacro;
  return std::nullopt;
}

class RuleChecker {
 public:
  explicit RuleChecker(const SourceTokens& tokens) : tokens_(tokens) {
    for (const SourceDirective& directive : tokens.directives) {
      if (directive.word == "define" && !directive.tokens.empty()) own_macros_.insert(directive.tokens.front().text);
    }
  }

  Objection Check() {
    for (const SourceDirective& directive : tokens_.directives) {
      if (auto objection = CheckDirective(directive)) return objection;
    }
    if (auto objection = CheckNames(tokens_.code)) return objection;
    if (auto objection = CheckAttributes(tokens_.code)) return objection;
    return CheckPasting();
  }

 private:
  Objection CheckDirective(const SourceDirective& directive) const {
    const std::string& word = directive.word;
    if (!Contains(kDirectives, word)) {
      return SourceObjection{directive.line, fmt::format("`#{}`", word),
                             "only #define, #undef, #include, #pragma and conditions are allowed"};
    }
    if (word == "include") return CheckInclude(directive);
    if (auto objection = CheckFunctionNames(directive)) return objection;
    if (word == "pragma") return CheckPragma(directive);
    if (word == "if" || word == "elif" || word == "ifdef" || word == "ifndef") return CheckCondition(directive);
    if (auto objection = CheckNames(directive.tokens)) return objection;
    return CheckAttributes(directive.tokens);
  }

  // Of a name that is a macro for one compiler and a function for another, a definition or condition would be two programs.
  static Objection CheckFunctionNames(const SourceDirective& directive) {
    const bool names_one = directive.word == "define" || directive.word == "undef";
    const bool condition = directive.word.starts_with("if") || directive.word == "elif";
    for (const SourceToken& token : directive.tokens) {
      if ((names_one || condition) && token.text == kPower)
        return SourceObjection{token.line, fmt::format("`#{}` of `{}`", directive.word, kPower), std::string(kCompilersMacro)};
      if (!condition) break;
    }
    return std::nullopt;
  }

  static Objection CheckInclude(const SourceDirective& directive) {
    if (IsAllowedInclude(directive.rest)) return std::nullopt;
    return SourceObjection{directive.line, fmt::format("`#include{}`", directive.rest),
                           "only headers of CUDA and those of the language that evo knows are allowed (docs/verify.md)"};
  }

  Objection CheckCondition(const SourceDirective& directive) const {
    for (const SourceToken& token : directive.tokens) {
      if (token.kind == Kind::kLiteral) return SourceObjection{token.line, token.text, "a condition has names and numbers"};
      if (token.kind != Kind::kName || token.text == "defined" || token.text == "true" || token.text == "false") continue;
      if (own_macros_.contains(token.text)) {
        if (auto objection = CheckNames({&token, 1})) return objection;
        continue;
      }
      return SourceObjection{
          token.line, fmt::format("`#{}` on `{}`", directive.word, token.text),
          "conditions may name only macros that the source itself defines; every compiler must see the same code"};
    }
    return std::nullopt;
  }

  static Objection CheckPragma(const SourceDirective& directive) {
    const auto& tokens = directive.tokens;
    const std::string_view word = tokens.empty() ? std::string_view() : std::string_view(tokens.front().text);
    const bool bare = word == "nv_hdrstop" || word == "once" || word == "nounroll";
    const bool known = (bare && tokens.size() == 1) || word.starts_with("nv_diag_");
    if (known || (word == "unroll" && IsPlainExpression({tokens.data() + 1, tokens.size() - 1}))) return std::nullopt;
    return SourceObjection{directive.line, fmt::format("`#pragma{}`", directive.rest),
                           "only `#pragma unroll` with a number or a constant is allowed"};
  }

  // Names and numbers with arithmetic around them, which no macro of the cpu device can be broken by.
  static bool IsPlainExpression(std::span<const SourceToken> tokens) {
    int depth = 0;
    for (const SourceToken& token : tokens) {
      if (token.text == "(") ++depth;
      if (token.text == ")") --depth;
      if (depth < 0 || token.kind == Kind::kLiteral) return false;
      if (token.kind == Kind::kName && WhyRefused(token.text)) return false;
      if (token.kind == Kind::kPunctuation && std::string_view("()+-*/%<>=&|?:!").find(token.text) == std::string_view::npos)
        return false;
    }
    return depth == 0;
  }

  Objection CheckNames(std::span<const SourceToken> tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const SourceToken& token = tokens[i];
      if (token.kind != Kind::kName) continue;
      const auto is = [&](std::size_t at, std::string_view name) { return at < tokens.size() && tokens[at].text == name; };
      // `__host__ __device__` is device code as well.
      if (token.text == "__host__" && (is(i + 1, "__device__") || (i > 0 && is(i - 1, "__device__")))) continue;
      if (const auto why = WhyRefused(token.text))
        return SourceObjection{token.line, fmt::format("`{}`", token.text), std::string(*why)};
    }
    return std::nullopt;
  }

  // `[[name, name]]` with the standard's own attributes.
  static Objection CheckAttributes(std::span<const SourceToken> tokens) {
    constexpr std::array<std::string_view, 6> kAttributes{"maybe_unused", "nodiscard", "fallthrough",
                                                          "likely",       "unlikely",  "noreturn"};
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i].text != "[" || tokens[i + 1].text != "[") continue;
      for (i += 2; i < tokens.size() && tokens[i].text != "]"; ++i) {
        if (tokens[i].text == "," || Contains(kAttributes, tokens[i].text)) continue;
        return SourceObjection{tokens[i].line, fmt::format("the attribute `{}`", tokens[i].text), std::string(kAttribute)};
      }
    }
    return std::nullopt;
  }

  Objection CheckPasting() const {
    const PastedWords words = FindPastedWords(tokens_);
    const auto objection = [](std::string_view name, std::string_view why) {
      return SourceObjection{1, fmt::format("`##`, by which the macros of this source can make `{}`", name), std::string(why)};
    };
    for (const char* underscores : {"_", "__"}) {
      if (words.contains(underscores)) return objection("__...", kCompilersMacro);
    }
    for (const Refused& refused : kRefused) {
      if (CanBePasted(refused.name, words, false)) return objection(refused.name, refused.why);
    }
    for (const RefusedPrefix& refused : kRefusedPrefixes) {
      if (CanBePasted(refused.prefix, words, true)) return objection(refused.prefix, refused.why);
    }
    for (const std::string_view name : kHostFunctions) {
      if (CanBePasted(name, words, false)) return objection(name, kHostFunction);
    }
    if (CanBePasted("asm", words, false)) return objection("asm", "write inline PTX as asm(\"...\")");
    return std::nullopt;
  }

  const SourceTokens& tokens_;
  std::set<std::string, std::less<>> own_macros_;
};

}  // namespace

Objection CheckSource(std::string_view source) {
  SourceTokens tokens;
  if (auto objection = Tokenise(source, tokens)) return objection;
  return RuleChecker(tokens).Check();
}

std::string ToString(const SourceObjection& objection) {
  return fmt::format("line {}: {}: {}", objection.line, objection.what, objection.remedy);
}

}  // namespace evo
