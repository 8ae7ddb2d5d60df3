#include "import/source_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "kernel_templates/directive_lexer.h"

namespace evo {
namespace {

// "const unsigned long" and the like.
bool IsTypeOfNumber(std::string_view type) {
  constexpr std::array<std::string_view, 12> kWords{"const", "unsigned", "signed", "int",    "long",   "short",
                                                    "char",  "bool",     "float",  "double", "size_t", "uint"};
  const auto words = SpelledTokens(type);
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end() || word.ends_with("_t");
  });
}

bool HasAttribute(const SyntaxTree& tree, int node, std::string_view attribute) {
  const auto& children = tree.node(node).children;
  return std::any_of(children.begin(), children.end(), [&](int child) { return tree.node(child).kind_name == attribute; });
}

bool IsFunctionNode(const SyntaxNode& node) {
  return node.kind_name == "FunctionDecl" || node.kind_name == "FunctionTemplate" || node.kind_name == "CXXMethod" ||
         node.kind_name.ends_with("Constructor") || node.kind_name == "LambdaExpr";
}

bool IsRecord(const SyntaxNode& node) {
  return node.kind_name == "StructDecl" || node.kind_name == "ClassDecl" || node.kind_name == "ClassTemplate";
}

// The class of a member; empty for what is none. A member that is defined outside of its class has it in front of its name.
std::string RecordOf(const SyntaxTree& tree, int index) {
  const int parent = tree.node(index).parent;
  if (parent >= 0 && IsRecord(tree.node(parent))) return tree.node(parent).name;
  for (const int child : tree.node(index).children) {
    const SyntaxNode& part = tree.node(child);
    const bool member = tree.node(index).kind_name == "CXXMethod" || tree.node(index).kind_name.ends_with("Constructor");
    if (member && part.kind_name == "TypeRef") return part.name.substr(part.name.find_last_of(" :") + 1);
  }
  return "";
}

// A preprocessor line and those that continue it, without comments.
std::string Joined(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\\n") {
      ++i;
      joined += ' ';
    } else if (text.substr(i, 3) == "\\\r\n") {
      i += 2;
      joined += ' ';
    } else if (text.substr(i, 2) == "//") {
      break;
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 1;
      joined += ' ';
    } else {
      joined += text[i];
    }
  }
  return joined;
}

}  // namespace

bool IsWord(std::string_view token) {
  return !token.empty() && (std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_');
}

std::vector<std::string_view> SpelledTokens(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (const SourceRange& range : Tokenize(text)) tokens.push_back(text.substr(range.begin, range.size()));
  return tokens;
}

SourceProgram::SourceProgram(const SyntaxTree& tree) : tree_(tree), tokens_(Tokenize(tree.text())) {
  const auto& nodes = tree_.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (IsFunctionNode(nodes[i])) AddFunction(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind_name == "VarDecl") AddVariable(static_cast<int>(i));
    if (nodes[i].kind_name == "FieldDecl") AddMember(static_cast<int>(i));
  }
  ReadMacros();
}

std::string SourceProgram::Scope(int node) const {
  std::string scope;
  for (int at = tree_.node(node).parent; at > 0; at = tree_.node(at).parent) {
    if (tree_.node(at).kind_name == "Namespace" && !tree_.node(at).name.empty()) scope = tree_.node(at).name + "::" + scope;
  }
  return scope;
}

void SourceProgram::AddFunction(int index) {
  const SyntaxNode& node = tree_.node(index);
  ProgramFunction function;
  function.name = node.name;
  function.qualified = Scope(index) + node.name;
  function.node = index;
  function.record = RecordOf(tree_, index);
  function.range = node.range;
  function.kernel = HasAttribute(tree_, index, "attribute(global)");
  function.device = function.kernel || HasAttribute(tree_, index, "attribute(device)");
  if (node.kind_name == "LambdaExpr") {
    for (int at = node.parent; at > 0 && function.name.empty(); at = tree_.node(at).parent) {
      if (tree_.node(at).kind_name == "VarDecl") function.name = tree_.node(at).name;
    }
    function.qualified = function.name;
    function.outer = FunctionAt(node.range.begin);
    function.device = Text(node.range).substr(0, 200).find("__device__") != std::string_view::npos;
    if (function.name.empty() || function.outer < 0) return;
  }
  bool defined = false;
  for (const int child : node.children) {
    const SyntaxNode& part = tree_.node(child);
    if (part.kind_name == "ParmDecl") function.parameters.push_back({part.name, part.type, child});
    if (part.kind_name == "TemplateTypeParameter") function.template_parameters.push_back({part.name, true});
    if (part.kind_name == "NonTypeTemplateParameter") function.template_parameters.push_back({part.name, false});
    if (part.kind_name == "CompoundStmt") {
      function.body = part.range;
      defined = true;
    }
  }
  if (defined) functions_.push_back(std::move(function));
}

void SourceProgram::AddVariable(int index) {
  const SyntaxNode& node = tree_.node(index);
  ProgramVariable variable;
  variable.name = node.name;
  variable.type = node.type;
  variable.node = index;
  variable.constant_memory = HasAttribute(tree_, index, "attribute(constant)");
  variable.device_memory = HasAttribute(tree_, index, "attribute(device)") || HasAttribute(tree_, index, "attribute(managed)");
  variable.function = FunctionAt(node.range.begin);
  const int statement = node.parent;
  variable.loop = statement > 0 && tree_.node(statement).parent >= 0 &&
                  tree_.node(tree_.node(statement).parent).kind_name == "ForStmt" &&
                  tree_.node(tree_.node(statement).parent).children.front() == statement;
  // clang ends a variable before an initialiser that it did not understand, so the tokens decide.
  std::size_t at = TokenAt(node.range.begin);
  while (at < tokens_.size() && tokens_[at].begin < node.range.end && Token(at) != variable.name) ++at;
  ++at;
  while (Token(at) == "[") at = AfterBracket(at);
  std::size_t end = at;
  if (Token(at) == "=") {
    ++at;
    for (end = at; end < tokens_.size() && Token(end) != ";" && Token(end) != ","; ++end) {
      if (Token(end) == "(" || Token(end) == "[" || Token(end) == "{") end = AfterBracket(end) - 1;
    }
  } else if (Token(at) == "(" || Token(at) == "{") {
    end = AfterBracket(at);
    // `const int n{a + b};` is a number in braces.
    if (Token(at) == "{" && end > at + 2 && IsTypeOfNumber(variable.type)) ++at, --end;
  }
  if (end > at && end <= tokens_.size()) variable.initialiser = {tokens_[at].begin, tokens_[end - 1].end};
  variables_.push_back(std::move(variable));
}

// A field of a class with functions of the host: `int n_ = 4;`, or `n_(n)` of a constructor.
void SourceProgram::AddMember(int index) {
  const SyntaxNode& node = tree_.node(index);
  ProgramVariable variable;
  variable.name = node.name;
  variable.type = node.type;
  variable.node = index;
  variable.record = RecordOf(tree_, index);
  const auto is_member = [&](const ProgramFunction& one) { return one.record == variable.record && !one.device; };
  if (variable.record.empty() || std::none_of(functions_.begin(), functions_.end(), is_member)) return;
  std::size_t at = TokenAt(node.range.end);
  while (at > 0 && tokens_[at - 1].begin >= node.range.begin && Token(at - 1) != node.name) --at;
  if (Token(at) == "=" || Token(at) == "{") {
    std::size_t end = Token(at) == "{" ? AfterBracket(at) : at + 1;
    while (Token(at) == "=" && end < tokens_.size() && Token(end) != ";") ++end;
    const std::size_t first = at + 1, last = Token(at) == "{" ? end - 1 : end;
    if (last > first && last <= tokens_.size()) variable.initialiser = {tokens_[first].begin, tokens_[last - 1].end};
  }
  for (const ProgramFunction& one : functions_) {
    if (!is_member(one) || one.name != variable.record) continue;
    for (std::size_t i = TokenAt(one.range.begin); i < tokens_.size() && tokens_[i].begin < one.body.begin; ++i) {
      const bool begins = i > 0 && (Token(i - 1) == ":" || Token(i - 1) == ",") && Token(i) == node.name;
      if (!begins || (Token(i + 1) != "(" && Token(i + 1) != "{")) continue;
      const std::size_t close = AfterBracket(i + 1) - 1;
      if (close > i + 2 && close < tokens_.size()) variable.initialiser = {tokens_[i + 2].begin, tokens_[close - 1].end};
    }
  }
  variables_.push_back(std::move(variable));
}

void SourceProgram::ReadMacros() {
  const std::string& all = text();
  const std::vector<SourceLine> lines = SplitLines(all);
  lines_ = PreprocessedLines(all);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = Trim(lines[i].text);
    if (!line.starts_with('#')) continue;
    const std::size_t first = i;
    const auto continues = [&] { return lines[i].text.ends_with('\\') || lines[i].text.ends_with("\\\r"); };
    while (continues() && i + 1 < lines.size()) ++i;
    line = Trim(line.substr(1));
    if (!line.starts_with("define") || line.size() < 8 || !lines_[first].active) continue;
    ProgramMacro macro;
    macro.range = {static_cast<std::uint32_t>(lines[first].begin),
                   static_cast<std::uint32_t>(lines[i].begin + lines[i].text.size())};
    const std::string joined = Joined(Text(macro.range));
    std::string_view rest = Trim(std::string_view(joined).substr(joined.find("define") + 6));
    std::size_t end = 0;
    while (end < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[end])) != 0 || rest[end] == '_')) ++end;
    macro.name = std::string(rest.substr(0, end));
    rest = rest.substr(end);
    if (rest.starts_with('(')) {
      macro.function_like = true;
      const std::size_t close = rest.find(')');
      if (close == std::string_view::npos) continue;
      for (const std::string_view token : SpelledTokens(rest.substr(1, close - 1))) {
        if (token != ",") macro.parameters.emplace_back(token);
      }
      rest = rest.substr(close + 1);
    }
    macro.body = std::string(Trim(rest));
    macros_.push_back(std::move(macro));
  }
}

const ProgramMacro* SourceProgram::FindMacro(std::string_view name) const {
  const auto found = std::find_if(macros_.begin(), macros_.end(), [&](const ProgramMacro& macro) { return macro.name == name; });
  return found == macros_.end() ? nullptr : &*found;
}

int SourceProgram::FunctionAt(std::uint32_t offset) const {
  int found = -1;  // a lambda, or a function of a local class, stands behind the one around it
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (functions_[i].range.begin <= offset && offset < functions_[i].range.end) found = static_cast<int>(i);
  }
  return found;
}

// Whether the block or the loop in which a variable is declared has the offset.
bool SourceProgram::IsSeenAt(const ProgramVariable& variable, std::uint32_t at) const {
  if (tree_.node(variable.node).range.begin > at) return false;
  for (int parent = tree_.node(variable.node).parent; parent > 0; parent = tree_.node(parent).parent) {
    const SyntaxNode& node = tree_.node(parent);
    if (node.kind_name == "CompoundStmt" || node.kind_name == "ForStmt") return node.range.begin <= at && at < node.range.end;
  }
  return true;
}

const ProgramVariable* SourceProgram::FindVariable(std::string_view name, int function, std::uint32_t at) const {
  const ProgramVariable* local = nullptr;
  const ProgramVariable* of_file = nullptr;
  const ProgramVariable* of_class = nullptr;
  const ProgramFunction* inside = function < 0 ? nullptr : &functions_[static_cast<std::size_t>(function)];
  for (const ProgramVariable& variable : variables_) {
    if (variable.name != name) continue;
    if (!variable.record.empty()) {
      if (inside != nullptr && inside->record == variable.record) of_class = &variable;
      continue;
    }
    if (variable.function == function && (local == nullptr || (at > 0 && IsSeenAt(variable, at)))) local = &variable;
    if (variable.function == -1) of_file = &variable;
  }
  if (local != nullptr) return local;
  if (HasParameter(function, name)) return nullptr;
  if (inside != nullptr && inside->outer >= 0) return FindVariable(name, inside->outer, at);
  return of_class != nullptr ? of_class : of_file;
}

bool SourceProgram::HasParameter(int function, std::string_view name) const {
  if (function < 0) return false;
  const auto& parameters = functions_[static_cast<std::size_t>(function)].parameters;
  return std::any_of(parameters.begin(), parameters.end(), [&](const ProgramParameter& one) { return one.name == name; });
}

int SourceProgram::OwnerOf(std::string_view name, int function) const {
  const auto has = [&](int one) {
    return HasParameter(one, name) || std::any_of(variables_.begin(), variables_.end(), [&](const ProgramVariable& variable) {
             return variable.function == one && variable.name == name;
           });
  };
  for (int one = function; one >= 0; one = functions_[static_cast<std::size_t>(one)].outer) {
    if (has(one)) return one;
  }
  int outermost = function;
  while (outermost >= 0 && functions_[static_cast<std::size_t>(outermost)].outer >= 0)
    outermost = functions_[static_cast<std::size_t>(outermost)].outer;
  return outermost;
}

int SourceProgram::FindFunction(std::string_view name) const {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (functions_[i].name == name || functions_[i].qualified == name) return static_cast<int>(i);
  }
  return -1;
}

std::size_t SourceProgram::TokenAt(std::uint32_t offset) const {
  const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), offset,
                                      [](const SourceRange& token, std::uint32_t at) { return token.begin < at; });
  return static_cast<std::size_t>(found - tokens_.begin());
}

std::size_t SourceProgram::AfterBracket(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens_.size(); ++i) {
    const std::string_view token = Token(i);
    if (token == "(" || token == "[" || token == "{") ++depth;
    if (token == ")" || token == "]" || token == "}") {
      if (--depth == 0) return i + 1;
    }
  }
  return tokens_.size();
}

std::vector<std::string_view> SourceProgram::Tokens(const SourceRange& range) const {
  std::vector<std::string_view> result;
  for (std::size_t i = TokenAt(range.begin); i < tokens_.size() && tokens_[i].end <= range.end; ++i) result.push_back(Token(i));
  return result;
}

int SourceProgram::LineOf(std::uint32_t offset) const {
  return 1 + static_cast<int>(
                 std::count(text().begin(), text().begin() + std::min<std::ptrdiff_t>(offset, std::ssize(text())), '\n'));
}

void SourceProgram::SetOrigins(std::vector<std::string> files, std::vector<int> numbers, std::string main) {
  line_files_ = std::move(files);
  line_numbers_ = std::move(numbers);
  main_file_ = std::move(main);
}

std::string SourceProgram::PlaceOf(std::uint32_t offset) const {
  const int line = LineOf(offset);
  const auto index = static_cast<std::size_t>(line) - 1;
  if (index >= line_files_.size() || index >= line_numbers_.size()) return fmt::format("line {}", line);
  if (line_files_[index] == main_file_) return fmt::format("line {}", line_numbers_[index]);
  return fmt::format("{}:{}", line_files_[index], line_numbers_[index]);
}

}  // namespace evo
