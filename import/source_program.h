#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/preprocessor.h"
#include "syntax/syntax_tree.h"
#include "syntax/token.h"

namespace evo {

struct ProgramParameter {
  std::string name;
  std::string type;  // canonical: "const float *__restrict"
  int node = 0;
};

struct TemplateParameter {
  std::string name;
  bool is_type = false;
};

// A function that is defined in the file.
struct ProgramFunction {
  std::string name;
  std::string qualified;  // with its namespaces: "lib::k"
  std::string record;     // the struct or class that it is a member of; empty: none
  int node = 0;
  SourceRange range;  // without `extern "C"` and attributes' macros in front
  SourceRange body;
  int outer = -1;  // of a lambda: the function that it stands in
  bool kernel = false;
  bool device = false;
  std::vector<ProgramParameter> parameters;
  std::vector<TemplateParameter> template_parameters;
};

// A variable of the file, of a class or of a function; no parameters.
struct ProgramVariable {
  std::string name;
  std::string type;
  int function = -1;  // index into functions(); -1: of the file
  int node = 0;
  std::string record;       // of a member: the class; only its functions see it by its name
  SourceRange initialiser;  // after `=`, or `(a, b)` and `{a, b}` with their brackets; empty if there is none
  bool constant_memory = false;
  bool device_memory = false;
  bool loop = false;  // declared in the head of a for loop
};

struct ProgramMacro {
  std::string name;
  bool function_like = false;
  std::vector<std::string> parameters;
  std::string body;   // on one line, without comments
  SourceRange range;  // of its lines, without the last line end
};

// A CUDA program, host and device, as one text: its functions, variables, macros and tokens. What the parser did not understand
// is missing. Refers to the tree, which must outlive it.
class SourceProgram {
 public:
  explicit SourceProgram(const SyntaxTree& tree);

  const SyntaxTree& tree() const { return tree_; }
  const std::string& text() const { return tree_.text(); }
  std::string_view Text(const SourceRange& range) const { return tree_.Text(range); }
  const std::vector<ProgramFunction>& functions() const { return functions_; }
  const std::vector<ProgramVariable>& variables() const { return variables_; }
  const std::vector<ProgramMacro>& macros() const { return macros_; }
  const std::vector<SourceRange>& tokens() const { return tokens_; }
  const std::vector<PreprocessedLine>& lines() const { return lines_; }
  std::string_view Token(std::size_t index) const { return index < tokens_.size() ? Text(tokens_[index]) : std::string_view(); }

  const ProgramMacro* FindMacro(std::string_view name) const;
  // The function whose range has the offset; -1 if there is none.
  int FunctionAt(std::uint32_t offset) const;
  // Index of the function of this name or qualified name; -1 if there is none.
  int FindFunction(std::string_view name) const;
  // The function whose variable or parameter the name is, from the function outwards, which only lambdas have; else the function.
  int OwnerOf(std::string_view name, int function) const;
  // The variable of this name in the function, else that of its class, else that of the file; nullptr if there is none, or if a
  // parameter has the name.
  const ProgramVariable* FindVariable(std::string_view name, int function) const { return FindVariable(name, function, 0); }
  // Of several in blocks of the function the one that is seen at the offset.
  const ProgramVariable* FindVariable(std::string_view name, int function, std::uint32_t at) const;
  bool HasParameter(int function, std::string_view name) const;
  // Index of the first token at or after an offset.
  std::size_t TokenAt(std::uint32_t offset) const;
  // One past the bracket that closes the one at `open`; the number of tokens if it stays open.
  std::size_t AfterBracket(std::size_t open) const;
  std::vector<std::string_view> Tokens(const SourceRange& range) const;
  // The line of an offset, from 1.
  int LineOf(std::uint32_t offset) const;
  // Says where lines of the text come from. `main`: the file whose name need not be said.
  void SetOrigins(std::vector<std::string> files, std::vector<int> numbers, std::string main);
  // "line 12", or "common.h:12" for what stands in another file than the main one.
  std::string PlaceOf(std::uint32_t offset) const;

 private:
  void AddFunction(int node);
  void AddVariable(int node);
  void AddMember(int node);
  void ReadMacros();
  std::string Scope(int node) const;
  bool IsSeenAt(const ProgramVariable& variable, std::uint32_t at) const;

  const SyntaxTree& tree_;
  std::vector<SourceRange> tokens_;
  std::vector<ProgramFunction> functions_;
  std::vector<ProgramVariable> variables_;
  std::vector<ProgramMacro> macros_;
  std::vector<PreprocessedLine> lines_;
  std::vector<std::string> line_files_;
  std::vector<int> line_numbers_;
  std::string main_file_;
};

// Whether a token is an identifier or a keyword.
bool IsWord(std::string_view token);
// The spelled tokens of a text.
std::vector<std::string_view> SpelledTokens(std::string_view text);

}  // namespace evo
