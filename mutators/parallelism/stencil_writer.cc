// What stays of a stencil's kernel for the loops of its child. stencil_text.cc has what is around it.
#include "mutators/parallelism/stencil_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/affine_index.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/convolution_parts.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/indentation.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
StencilWriter::StencilWriter(const MutationContext& context, const Stencil& found, StencilParameters names, bool items)
    : tree_(context.tree), found_(found), names_(std::move(names)) {
  has_items_ = items && CanStoreLater();
  std::copy_if(found.tables.begin(), found.tables.end(), std::back_inserter(tables_),
               [&](const Stencil::Table& table) { return IsKept(table); });
  FindCoordinates();
  FindStatements();
}

// A name that neither the kernel has nor what its text may stand for.
std::string StencilWriter::Own(std::string_view wanted) const {
  std::string taken(tree_.Text(found_.kernel));
  const std::string& text = tree_.text();
  for (std::size_t at = text.find("#define "); at != std::string::npos; at = text.find("#define ", at + 1))
    taken += text.substr(at, text.find('\n', at) + 1 - at);
  return UnusedName(taken, std::string(wanted));
}

std::string StencilWriter::Function(std::string_view wanted) const { return UnusedName(tree_.text(), std::string(wanted)); }

std::string StencilWriter::TypeOf(int buffer) const {
  const std::string type = PointedTo(tree_, buffer);
  return type == "__half" ? "half" : type;
}

// The coordinates have the names of the kernel's variables that are one, if these are plain.
void StencilWriter::FindCoordinates() {
  std::map<std::size_t, int> own;
  for (const auto& [variable, role] : found_.roles) {
    const SyntaxNode& declared = tree_.node(variable);
    if (role.axis == Stencil::kElement || role.shift != 0 || WithoutConst(declared.type) != "int") continue;
    const auto nodes = Subtree(tree_, found_.kernel);
    const auto same = std::count_if(nodes.begin(), nodes.end(), [&](int node) {
      const SyntaxNode& other = tree_.node(node);
      return other.name == declared.name && (other.kind_name == "VarDecl" || other.kind_name == "ParmDecl");
    });
    if (same != 1 || tree_.node(declared.parent).children.size() != 1) continue;
    coordinates_[role.axis] = declared.name;  // that of the last one
    own[role.axis] = declared.parent;
  }
  for (const auto& [axis, statement] : own) own_.push_back(statement);
  const char* const kNames[] = {"column", "row", "plane"};
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    if (coordinates_[axis].empty()) coordinates_[axis] = Own(kNames[axis]);
  }
}

// Whether a condition holds for all elements that are visited (with `inside`), or for none of them.
bool StencilWriter::IsImplied(int condition, bool inside) const {
  condition = WithoutParentheses(tree_, condition);
  const auto& sides = tree_.node(condition).children;
  if (sides.size() != 2) return false;
  const std::string_view spelled = tree_.Operator(condition);
  if (spelled == (inside ? "&&" : "||")) return IsImplied(sides[0], inside) && IsImplied(sides[1], inside);
  const auto role = found_.roles.find(NamedDeclaration(tree_, sides[0]));
  if (role == found_.roles.end() || role->second.shift != 0) return false;
  if (const auto number = ConstantValue(tree_, tree_.Text(sides[1])); number && role->second.axis != Stencil::kElement) {
    const std::int64_t low = found_.stores[role->second.axis].low;
    if (spelled == (inside ? ">" : "<=")) return *number < low;
    if (spelled == (inside ? ">=" : "<")) return *number <= low;
    return !inside && spelled == "==" && *number < low;
  }
  if (spelled != (inside ? "<" : ">=")) return false;
  if (role->second.axis != Stencil::kElement)
    return SameTokens(tree_.Text(sides[1]), found_.stores[role->second.axis].end.kernel);
  // The product of all sizes.
  const auto form = AffineFormOf(tree_, sides[1], {});
  AffineForm product = AffineForm::Constant(1);
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    int size = -1;
    for (const int child : tree_.node(found_.kernel).children) {
      if (tree_.node(child).kind_name == "ParmDecl" && tree_.node(child).name == found_.stores[axis].end.kernel) size = child;
    }
    if (size < 0 || (axis < last() && found_.lengths[axis].kernel != found_.stores[axis].end.kernel)) return false;
    product = product.TimesForm(AffineForm::Symbol(size));
  }
  return form && *form == product;
}

// Whether declarations are the same for all threads, so that they may stand before the loop.
bool StencilWriter::IsCommon(int statement) const {
  if (tree_.node(statement).kind_name != "DeclStmt") return false;
  const auto written = WrittenIn(tree_, found_.kernel);
  for (const int variable : tree_.node(statement).children) {
    const SyntaxNode& declared = tree_.node(variable);
    if (declared.kind_name != "VarDecl" || declared.children.empty() || !IsArithmetic(WithoutConst(declared.type)) ||
        written.contains(variable) || found_.roles.contains(variable) || !IsPure(tree_, declared.children.back()) ||
        LoadsIn(tree_, declared.children.back()))
      return false;
    for (const int name : NamedIn(tree_, declared.children.back())) {
      const bool common = tree_.node(name).kind_name == "ParmDecl" || tree_.node(name).function < 0 ||
                          std::find(common_.begin(), common_.end(), tree_.node(name).parent) != common_.end();
      if (!common) return false;
    }
  }
  return true;
}

void StencilWriter::AddStatement(int statement) {
  const SyntaxNode& node = tree_.node(statement);
  if (std::find(own_.begin(), own_.end(), statement) != own_.end()) return;
  if (node.kind_name == "IfStmt" && node.children.size() == 2) {
    const int then = node.children[1], only = OnlyStatement(tree_, then);
    const bool returns = tree_.node(only < 0 ? then : only).kind_name == "ReturnStmt";
    if (returns && IsImplied(node.children[0], false)) return;
    if (!returns && tree_.node(then).kind_name == "CompoundStmt" && statement == found_.statements.back() &&
        IsImplied(node.children[0], true)) {
      for (const int inner : tree_.node(then).children) AddStatement(inner);
      return;
    }
  }
  (IsCommon(statement) ? common_ : statements_).push_back(statement);
}

void StencilWriter::FindStatements() {
  for (const int node : Subtree(tree_, found_.kernel)) {
    if (!IsStore(tree_, node)) continue;
    const int target = Assigned(tree_, node);
    stored_at_.emplace_back(target, RootOf(tree_, PointerAt(tree_, target)));
  }
  for (const int statement : found_.statements) AddStatement(statement);
  DropUnused();
  of_elements_only_ = IsOfElementsOnly();
}

// Declarations that only addresses of neighbours needed, or conditions that are left out.
void StencilWriter::DropUnused() {
  const auto is_kept = [&](int use) {
    const auto within = [&](int node) { return IsWithin(tree_, use, node); };
    if (std::any_of(found_.sites.begin(), found_.sites.end(), [&](const auto& site) { return within(site.node); })) return false;
    if (std::any_of(own_.begin(), own_.end(), within)) return false;
    if (has_items_ && std::any_of(stored_at_.begin(), stored_at_.end(), [&](const auto& at) { return within(at.first); }))
      return false;
    for (const auto& [variable, role] : found_.roles) {
      if (within(variable) && use != variable) return false;
    }
    return std::any_of(common_.begin(), common_.end(), within) || std::any_of(statements_.begin(), statements_.end(), within);
  };
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (auto* const list : {&statements_, &common_}) {
      dropped |= std::erase_if(*list, [&](int statement) {
                   if (tree_.node(statement).kind_name != "DeclStmt") return false;
                   const auto& variables = tree_.node(statement).children;
                   return std::all_of(variables.begin(), variables.end(), [&](int variable) {
                     const SyntaxNode& declared = tree_.node(variable);
                     const auto& uses = tree_.UsesOf(variable);
                     return declared.kind_name == "VarDecl" && !declared.children.empty() &&
                            IsPure(tree_, declared.children.back()) && std::none_of(uses.begin(), uses.end(), is_kept);
                   });
                 }) > 0;
    }
  }
}

Replacements StencilWriter::Replaced() const {
  Replacements replaced;
  for (const Stencil::Site& site : found_.sites) replaced.emplace_back(site.node, Place(site));
  for (const Stencil::Table& table : tables_) {
    for (const int node : table.nodes) {
      const std::string index(tree_.Text(tree_.node(node).children[1]));
      replaced.emplace_back(node, table.low == 0 ? fmt::format("{}[{}]", Weights(table.buffer), index)
                                                 : fmt::format("{}[{} - {}]", Weights(table.buffer), index, table.low));
    }
  }
  for (const auto& [variable, role] : found_.roles) {
    std::string value = role.axis == Stencil::kElement ? Element(coordinates_[0], found_.wide) : coordinates_[role.axis];
    if (role.shift != 0) value += fmt::format(" {} {}", role.shift < 0 ? "-" : "+", std::abs(role.shift));
    replaced.emplace_back(tree_.node(variable).children.back(), value);
  }
  for (const int statement : own_) replaced.emplace_back(statement, "");
  if (has_items_) {
    for (const auto& [target, buffer] : stored_at_)
      replaced.emplace_back(target, fmt::format("{}.values[{}]", Results(buffer), Own("e")));
  }
  for (const auto& [counter, start] : found_.once) {
    const auto uses = UsesAs(tree_, counter, found_.kernel, Parenthesised(start));
    replaced.insert(replaced.end(), uses.begin(), uses.end());
  }
  for (const int node : Subtree(tree_, found_.kernel)) {
    if (tree_.node(node).kind_name == "ReturnStmt") replaced.emplace_back(node, "continue;");
  }
  // The innermost loops first.
  for (auto loop = found_.loops.rbegin(); loop != found_.loops.rend(); ++loop) {
    if (const int pragma = PragmaOf(tree_, *loop); pragma >= 0)
      replaced.emplace_back(pragma, "#pragma unroll");
    else
      replaced.emplace_back(*loop, fmt::format("#pragma unroll\n{}{}", IndentOf(tree_, *loop), TextWith(tree_, *loop, replaced)));
  }
  return replaced;
}

std::string StencilWriter::Statements(const std::vector<int>& statements, const std::string& indent) const {
  const Replacements replaced = Replaced();
  std::string text;
  for (const int statement : statements) {
    std::string lines = Lines(tree_, statement, indent, replaced);
    lines = lines.substr(0, lines.find_last_not_of('\n') + 1);
    if (tree_.node(statement).kind_name == kPragmaKind || lines.starts_with('#')) {
      text += lines + "\n";
      continue;
    }
    if (lines.size() > indent.size()) text += WithComments(tree_, statement, lines.substr(indent.size()), indent);
  }
  // Pragmas stand at the margin.
  for (std::size_t at = text.find(" #pragma"); at != std::string::npos; at = text.find(" #pragma", at)) {
    const std::size_t line = text.rfind('\n', at) + 1;
    text.erase(line, at + 1 - line);
    at = line;
  }
  return text;
}

// The text with each line but directives one unit to the right.
std::string StencilWriter::Indented(const std::string& text) {
  std::string indented;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (text[at] != '#' && text[at] != '\n') indented += "  ";
    indented += text.substr(at, end - at);
    at = end;
  }
  return indented;
}

// The text with comments indented by the file's unit, as other lines are when the edit is made.
std::string StencilWriter::Finished(const std::string& text) const {
  const std::string unit = IndentUnit(tree_);
  std::string finished;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string line = text.substr(at, end - at);
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line.compare(begin, 2, "//") == 0) {
      line.erase(0, begin);
      for (std::size_t i = 0; i < begin / 2; ++i) line.insert(0, unit);
    }
    finished += line;
    at = end;
  }
  return finished;
}

}  // namespace evo
