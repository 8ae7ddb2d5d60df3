#include "syntax/template_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "syntax/splices.h"

namespace evo {
namespace {

using Words = std::vector<std::string_view>;

// The tokens of a parameter's type, without those that a deduced type does not depend on, and without the parameter's name.
Words TypeOf(const SyntaxTree& tree, int parameter) {
  Words words = tree.Tokens(tree.node(parameter).range);
  std::erase_if(words, [&](std::string_view word) {
    return word == "const" || word == "volatile" || word == "__restrict__" || word == "&" || word == tree.node(parameter).name;
  });
  return words;
}

std::string WithoutQualifiers(std::string type) {
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view word : {"const ", "volatile "}) {
      if (!type.starts_with(word)) continue;
      type.erase(0, word.size());
      more = true;
    }
  }
  return type;
}

// What a parameter of the template must be, if a function's parameter has this type and gets an argument of that; else empty.
std::string Deduced(const Words& words, std::string_view name, const std::string& argument) {
  if (argument.find('(') != std::string::npos || argument.find("dependent") != std::string::npos) return "";
  const std::size_t array = argument.find('['), star = argument.find('*');
  if (words == Words{name}) {
    if (array == std::string::npos) return star == std::string::npos ? WithoutQualifiers(argument) : argument;
    return argument.substr(0, array) + " *";
  }
  if (words == Words{name, "*"}) {
    if (array == std::string::npos && star == std::string::npos) return "";
    std::string type = WithoutQualifiers(argument.substr(0, std::min(array, star)));
    type.erase(type.find_last_not_of(' ') + 1);
    return type;
  }
  // `tile<SIZE>`
  if (words.size() < 4 || words[words.size() - 3] != "<" || words[words.size() - 2] != name || words.back() != ">") return "";
  const std::size_t open = argument.find('<');
  if (open == std::string::npos) return "";
  return argument.substr(open + 1, argument.find_first_of(",>", open) - open - 1);
}

class Deducer {
 public:
  explicit Deducer(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<std::string> Run() const {
    Splices splices;
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const SyntaxNode& call = tree_.node(node);
      if (call.kind_name != "CallExpr" || call.function < 0 || call.children.empty()) continue;
      if (tree_.node(call.function).kind_name != "FunctionDecl") continue;
      const SyntaxNode& callee = tree_.node(call.children.front());
      if (callee.kind_name != "DeclRefExpr" || callee.opaque || callee.refers_to < 0) continue;
      if (tree_.node(callee.refers_to).kind_name != "FunctionTemplate") continue;
      if (auto text = Spelled(call, callee)) splices.emplace_back(callee.range, std::move(*text));
    }
    return Spliced(tree_, std::move(splices));
  }

 private:
  // The name of what is called with all arguments; nullopt if it has them, or if one is not known.
  std::optional<std::string> Spelled(const SyntaxNode& call, const SyntaxNode& callee) const {
    std::vector<std::string> names;
    std::vector<int> parameters;
    for (const int child : tree_.node(callee.refers_to).children) {
      const SyntaxNode& one = tree_.node(child);
      if (one.kind_name.starts_with("Template") || one.kind_name.starts_with("NonTypeTemplate")) names.push_back(one.name);
      if (one.kind_name == "ParmDecl") parameters.push_back(child);
    }
    const std::string_view text = tree_.Text(callee.range);
    std::vector<std::string> arguments = Given(text);
    if (arguments.size() >= names.size()) return std::nullopt;
    for (std::size_t i = arguments.size(); i < names.size(); ++i) {
      std::string found;
      for (std::size_t at = 0; at < parameters.size() && at + 1 < call.children.size() && found.empty(); ++at)
        found = Deduced(TypeOf(tree_, parameters[at]), names[i], tree_.node(call.children[at + 1]).type);
      if (found.empty()) return std::nullopt;
      arguments.push_back(found);
    }
    return fmt::format("{}<{}>", text.substr(0, text.find('<')), fmt::join(arguments, ", "));
  }

  // Of `name<a, b>`; none of `name`.
  static std::vector<std::string> Given(std::string_view callee) {
    std::vector<std::string> arguments;
    const std::size_t open = callee.find('<');
    if (open == std::string_view::npos) return arguments;
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t at = open; at < callee.size(); ++at) {
      const char c = callee[at];
      depth += (c == '<' || c == '(') - (c == '>' || c == ')');
      if ((depth != 1 || c != ',') && depth != 0) continue;
      arguments.emplace_back(callee.substr(begin, at - begin));
      begin = at + 1;
    }
    return arguments;
  }

  const SyntaxTree& tree_;
};

}  // namespace

std::optional<std::string> WithTemplateArguments(const SyntaxTree& tree) { return Deducer(tree).Run(); }

}  // namespace evo
