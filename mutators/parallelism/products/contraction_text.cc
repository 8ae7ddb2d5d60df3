#include "mutators/parallelism/products/contraction_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/plain_source/thread_loops.h"
#include "mutators/analysis/source/block_uniform.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

constexpr char kAxisLetters[] = "xyz";

// Lines of comments with the file's unit of indentation, which other lines get when the edit is made.
std::string WithCommentsIndented(const std::string& text, const std::string& unit) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::size_t first = std::min(text.find_first_not_of(' ', at), end);
    if (text.compare(first, 2, "//") == 0) {
      for (std::size_t depth = (first - at) / 2; depth > 0; --depth) result += unit;
      at = first;
    }
    result += text.substr(at, end - at);
    at = end;
  }
  return result;
}

}  // namespace

std::optional<std::string> LaunchedSize(const MutationContext& context, const ElementGrid& grid, int bound) {
  const SyntaxTree& tree = context.tree;
  if (tree.node(bound).kind_name == "IntegerLiteral") return std::string(tree.Text(bound));
  const int parameter = tree.node(bound).kind_name == "ParmDecl" ? bound : NamedDeclaration(tree, bound);
  if (parameter < 0 || tree.node(parameter).kind_name != "ParmDecl")
    return tree.node(bound).kind_name == "VarDecl" ? std::nullopt : AsLaunchText(tree, *grid.launch, grid.kernel, bound);
  std::size_t place = 0;
  for (const int child : tree.node(grid.kernel).children) {
    if (child == parameter) break;
    place += tree.node(child).kind_name == "ParmDecl";
  }
  if (place >= grid.launch->arguments.size()) return std::nullopt;
  const LaunchArgumentText argument = ParseLaunchArgument(grid.launch->arguments[place]);
  if (argument.kind == LaunchArgumentText::Kind::kStruct) return std::nullopt;
  return argument.text;
}

bool LoadsElements(const SyntaxTree& tree, int statement) {
  const auto& variables = tree.node(statement).children;
  return std::any_of(variables.begin(), variables.end(), [&](int variable) {
    return LoadsIn(tree, variable) && tree.node(variable).type.find('*') == std::string::npos;
  });
}

ContractionText::ContractionText(const MutationContext& context, const Contraction& contraction)
    : tree_(context.tree), found_(contraction) {
  const BlockUniform uniform(context, found_.grid.kernel);
  std::vector<int> nodes = found_.epilogue;
  nodes.insert(nodes.end(), {found_.update, found_.k.bound, found_.m.bound, found_.n.bound});
  if (found_.start >= 0) nodes.push_back(found_.start);
  for (const int statement : NeededDeclarations(tree_, nodes, Declarations())) {
    const auto& variables = tree_.node(statement).children;
    const bool in_loop = std::find(found_.in_loop.begin(), found_.in_loop.end(), statement) != found_.in_loop.end();
    const auto is_common = [&](int variable) { return uniform.IsUniform(tree_.node(variable).children.back()); };
    if (!in_loop && std::all_of(variables.begin(), variables.end(), is_common)) common_.push_back(statement);
  }
}

std::string ContractionText::Fresh(const std::string& wanted) const {
  const auto tokens = tree_.Tokens(tree_.node(found_.grid.kernel).range);
  std::string name = wanted;
  for (int number = 2; std::find(tokens.begin(), tokens.end(), name) != tokens.end(); ++number)
    name = fmt::format("{}_{}", wanted, number);
  return name;
}

std::string ContractionText::Counter(const std::string& wanted, const std::string& otherwise) const {
  return Fresh(wanted) == wanted ? wanted : Fresh(otherwise);
}

std::string ContractionText::Typed(int declaration) const {
  const SyntaxNode& variable = tree_.node(declaration);
  return fmt::format("const {} {}", WithoutConst(variable.type), variable.name);
}

std::vector<int> ContractionText::Declarations() const {
  std::vector<int> declarations = found_.before;
  declarations.insert(declarations.end(), found_.in_loop.begin(), found_.in_loop.end());
  return declarations;
}

// Those that are not declared for the whole block.
std::vector<int> ContractionText::Needed(const std::vector<int>& nodes) const {
  std::vector<int> needed = NeededDeclarations(tree_, nodes, Declarations());
  std::erase_if(needed, [&](int one) { return std::find(common_.begin(), common_.end(), one) != common_.end(); });
  return needed;
}

std::string ContractionText::Statements(const std::vector<int>& statements, const std::string& indent,
                                        const Replacements& replacements) const {
  std::string lines;
  for (const int statement : statements) {
    const std::string text = Lines(tree_, statement, indent, replacements);
    const std::size_t end = text.find_last_not_of('\n') + 1;
    if (end > indent.size()) lines += WithComments(tree_, statement, text.substr(indent.size(), end - indent.size()), indent);
  }
  return lines;
}

std::string ContractionText::First(const ElementGrid::Index& index, const std::string& letter, const std::string& size) const {
  return fmt::format("  const {} {} = blockIdx.{} * {};\n", WithoutConst(tree_.node(index.declaration).type),
                     Fresh("first_" + letter), kAxisLetters[index.axis], size);
}

std::string ContractionText::StartValue() const {
  const std::string& type = tree_.node(found_.accumulator).type;
  const std::string text(tree_.Text(found_.start));
  return WithoutConst(tree_.node(found_.start).type) == type ? text : fmt::format("static_cast<{}>({})", type, text);
}

std::string ContractionText::Started(const std::string& sum, const std::string& indent) const {
  return Statements(Needed({found_.start}), indent, {}) + fmt::format("{}{} = {};\n", indent, sum, StartValue());
}

std::string ContractionText::Epilogue(const std::string& sum, const std::string& indent, bool started) const {
  const auto name = [&](int declaration) { return tree_.node(declaration).name; };
  std::string text;
  const int flat = found_.grid.flat;
  const bool adds_start = found_.start >= 0 && !started;
  std::vector<int> nodes = found_.epilogue;
  if (adds_start) nodes.push_back(found_.start);
  const std::vector<int> needed = Needed(nodes);
  nodes.insert(nodes.end(), needed.begin(), needed.end());
  const auto names_flat = [&](int node) { return NamedIn(tree_, node).contains(flat); };
  if (flat >= 0 && std::any_of(nodes.begin(), nodes.end(), names_flat)) {
    const auto& indices = found_.grid.indices;
    text += fmt::format("{}{} = {} * {} + {};\n", indent, Typed(flat), name(indices[0].declaration),
                        Parenthesised(tree_, indices[1].bound), name(indices[1].declaration));
  }
  text += Statements(needed, indent, {});
  if (adds_start) text += fmt::format("{}{} += {};\n", indent, sum, StartValue());
  for (const int statement : found_.epilogue)
    text += Statements({statement}, indent, UsesAs(tree_, found_.accumulator, statement, sum));
  return text;
}

std::string ContractionText::Finished(const std::string& body) const { return WithCommentsIndented(body, IndentUnit(tree_)); }

std::optional<std::vector<std::string>> TiledGrid(const MutationContext& context, const Contraction& found,
                                                  const std::string& tile_m, const std::string& tile_n) {
  const LaunchDirective& launch = *found.grid.launch;
  if (found.grid.flat >= 0) {
    const auto rows = LaunchedSize(context, found.grid, found.grid.indices[0].bound);
    const auto columns = LaunchedSize(context, found.grid, found.grid.indices[1].bound);
    if (!rows || !columns) return std::nullopt;
    const bool m_first = found.m.axis == 0;
    std::vector grid{fmt::format("ceil_div({}, {})", *columns, m_first ? tile_m : tile_n),
                     fmt::format("ceil_div({}, {})", *rows, m_first ? tile_n : tile_m)};
    if (launch.grid.size() == 3) grid.push_back(launch.grid[2].text());  // of batches
    return grid;
  }
  std::vector<std::string> grid;
  for (const Expression& dimension : launch.grid) grid.push_back(dimension.text());
  for (const auto& [index, tile] : {std::pair(found.m, tile_m), std::pair(found.n, tile_n)}) {
    const std::string block = launch.block[index.block_axis].text();
    grid[index.axis] = BlocksOf(launch.grid[index.axis], block, tile,
                                fmt::format("ceil_div(({}) * ({}), {})", launch.grid[index.axis].text(), block, tile));
  }
  return grid;
}

Proposal::Change WithBounds(const SyntaxTree& tree, int kernel, const std::string& bounds) {
  for (const int child : tree.node(kernel).children) {
    if (tree.node(child).kind_name == "attribute(global)")
      return {child, Placement::kAfter, fmt::format(" __launch_bounds__({})", bounds)};
  }
  throw Error("a kernel without __global__");
}

}  // namespace evo
