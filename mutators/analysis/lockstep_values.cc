// How a LockstepRun computes indices and conditions, and what it knows of data.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/lockstep_run.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

constexpr std::int64_t kMostSharedCells = 16384;  // elements of an array in shared memory

bool IsCastKind(const std::string& kind) {
  return kind == "CStyleCastExpr" || kind == "CXXStaticCastExpr" || kind == "CXXFunctionalCastExpr" || kind == "UnexposedExpr";
}

// 64 bits that wrap.
std::int64_t Wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::int64_t Computed(std::string_view spelled, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const bool divides = b != 0 && b != -1;
  if (spelled == "+") return Wrapped(ua + ub);
  if (spelled == "-") return Wrapped(ua - ub);
  if (spelled == "*") return Wrapped(ua * ub);
  if (spelled == "/") return divides ? a / b : Wrapped(0 - ua);
  if (spelled == "%") return divides ? a % b : 0;
  if (spelled == "<<") return b >= 0 && b < 63 ? Wrapped(ua << ub) : 0;
  if (spelled == ">>") return b >= 0 && b < 63 ? a >> b : 0;
  if (spelled == "&") return a & b;
  if (spelled == "|") return a | b;
  if (spelled == "^") return a ^ b;
  if (spelled == "<") return a < b;
  if (spelled == "<=") return a <= b;
  if (spelled == ">") return a > b;
  if (spelled == ">=") return a >= b;
  if (spelled == "==") return a == b;
  if (spelled == "!=") return a != b;
  if (spelled == "&&") return a != 0 && b != 0;
  return a != 0 || b != 0;
}

// `-INFINITY`, `(float)0`, `-2147483647 - 1`: numbers, and names that only macros have.
bool IsSpelledConstant(const SyntaxTree& tree, int expression) {
  for (const std::string_view token : tree.Tokens(tree.node(expression).range)) {
    if (token == "float" || token == "double" || token == "int" || std::isdigit(static_cast<unsigned char>(token.front())) != 0)
      continue;
    const auto is_macro = [](char c) { return c == '_' || std::isupper(static_cast<unsigned char>(c)) != 0; };
    if (token != "-" && token != "(" && token != ")" && token.front() != '.' &&
        !std::all_of(token.begin(), token.end(), is_macro))
      return false;
  }
  return NamedIn(tree, expression).empty();
}

}  // namespace

int SharedArrayOf(const SyntaxTree& tree, int expression) {
  const int node = WithoutParentheses(tree, expression);
  const bool element = tree.node(node).kind_name == "ArraySubscriptExpr" && tree.node(node).children.size() == 2;
  const int variable = NamedDeclaration(tree, element ? tree.node(node).children.front() : node);
  if (variable < 0 || tree.node(variable).kind_name != "VarDecl" || !IsShared(tree, variable)) return -1;
  return element == tree.node(variable).type.ends_with("]") ? variable : -1;
}

LockstepRun::Mask LockstepRun::Where(int condition, const Mask& mask) {
  Mask result = mask;
  const Integers values = Integer(condition, mask);
  for (std::size_t lane = 0; lane < lanes_ && !refused(); ++lane) result[lane] = mask[lane] && values[lane] != 0;
  return result;
}

LockstepRun::Integers LockstepRun::Constant(std::string_view text) {
  const auto given = setting_.macros.find(text);
  if (given != setting_.macros.end()) return Integers(lanes_, given->second);
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos &&
         std::isdigit(static_cast<unsigned char>(text.front())) != 0)
    text.remove_suffix(1);
  const auto value = ConstantValue(tree_, text);
  if (!value) Refuse(fmt::format("its work depends on `{}`", text));
  return Integers(lanes_, value.value_or(0));
}

LockstepRun::Integers LockstepRun::Named(int expression) {
  const SyntaxNode& node = tree_.node(expression);
  const int declaration = node.refers_to;
  if (declaration < 0) return node.name == "warpSize" ? Integers(lanes_, 32) : Constant(node.name);
  const SyntaxNode& named = tree_.node(declaration);
  if (const auto held = integers_.find(declaration); held != integers_.end()) return held->second;
  const auto given = setting_.parameters.find(declaration);
  if (given != setting_.parameters.end()) return Integers(lanes_, given->second);
  if (named.function < 0 && named.kind_name == "VarDecl") return Constant(named.name);
  Refuse(fmt::format("its work depends on `{}`", named.name));
  return Integers(lanes_);
}

LockstepRun::Integers LockstepRun::Integer(int expression, const Mask& mask) {
  if (refused()) return Integers(lanes_);
  expression = WithoutParentheses(tree_, expression);
  const SyntaxNode& node = tree_.node(expression);
  const std::string_view text = tree_.Text(expression);
  if (node.opaque || NamesShared(tree_, expression)) {
    Refuse(fmt::format("its work depends on {}", Quoted(expression)));
    return Integers(lanes_);
  }
  if (node.kind_name == "DeclRefExpr") return Named(expression);
  if (node.kind_name == "MemberRefExpr") {
    Integers values(lanes_);
    const bool other = text.ends_with(".y") || text.ends_with(".z");
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (text == "threadIdx.x") values[lane] = static_cast<std::int64_t>(lane);
      if (text == "blockIdx.x") values[lane] = setting_.block;
      if (text == "blockDim.x") values[lane] = setting_.threads;
      if (text == "gridDim.x") values[lane] = setting_.blocks;
      if (text == "blockDim.y" || text == "blockDim.z") values[lane] = 1;
    }
    if (other && !text.starts_with("threadIdx") && !text.starts_with("blockDim"))
      Refuse(fmt::format("its work depends on {}", Quoted(expression)));
    return values;
  }
  if (node.children.empty()) return Constant(text);
  if (IsCastKind(node.kind_name)) return Integer(node.children.back(), mask);
  if (node.kind_name == "ConditionalOperator" && node.children.size() == 3) {
    const Integers which = Integer(node.children[0], mask);
    Integers values = Integer(node.children[1], mask);
    const Integers others = Integer(node.children[2], mask);
    for (std::size_t lane = 0; lane < lanes_; ++lane) values[lane] = which[lane] != 0 ? values[lane] : others[lane];
    return values;
  }
  const std::string_view spelled = tree_.Operator(expression);
  const bool unary = node.kind_name == "UnaryOperator" && (spelled == "-" || spelled == "!" || spelled == "~" || spelled == "+");
  if (unary) {
    Integers values = Integer(node.children.front(), mask);
    for (auto& value : values)
      value = spelled == "-"   ? Wrapped(0 - static_cast<std::uint64_t>(value))
              : spelled == "!" ? value == 0
              : spelled == "~" ? ~value
                               : value;
    return values;
  }
  const auto callee = LibraryCallee(tree_, expression);
  if ((callee == "min" || callee == "max") && node.children.size() == 3) {
    Integers values = Integer(node.children[1], mask);
    const Integers others = Integer(node.children[2], mask);
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      values[lane] = callee == "min" ? std::min(values[lane], others[lane]) : std::max(values[lane], others[lane]);
    return values;
  }
  if (node.kind_name != "BinaryOperator" || node.children.size() != 2 || spelled == "=" || spelled == ",") {
    Refuse(fmt::format("its work depends on {}", Quoted(expression)));
    return Integers(lanes_);
  }
  return IntegerOperation(expression, spelled, mask);
}

LockstepRun::Integers LockstepRun::IntegerOperation(int expression, std::string_view spelled, const Mask& mask) {
  Integers a = Integer(tree_.node(expression).children[0], mask);
  const Integers b = Integer(tree_.node(expression).children[1], mask);
  for (std::size_t lane = 0; lane < lanes_; ++lane) a[lane] = Computed(spelled, a[lane], b[lane]);
  return a;
}

LockstepRun::Partials LockstepRun::Data(int expression, const Mask& mask) {
  if (refused()) return Partials(lanes_);
  const int node = WithoutParentheses(tree_, expression);
  for (const int one : {expression, node}) {
    if (elements_.NumberOf(one) >= 0) return Element(one, mask);
  }
  if (const int variable = NamedDeclaration(tree_, node); elements_.IsPartial(variable)) return OfVariable(variable, mask);
  if (SharedArrayOf(tree_, node) >= 0) return Read(node, mask);
  const auto& parts = tree_.node(node).children;
  if (tree_.node(node).kind_name == "ConditionalOperator" && parts.size() == 3 && !LoadsIn(tree_, parts[0]) &&
      !CombinationOf(tree_, node)) {
    const Mask yes = Where(parts[0], mask);
    Mask no = mask;
    for (std::size_t lane = 0; lane < lanes_; ++lane) no[lane] = mask[lane] && !yes[lane];
    Partials values = Data(parts[1], yes);
    const Partials others = Data(parts[2], no);
    for (std::size_t lane = 0; lane < lanes_; ++lane) values[lane] = yes[lane] ? values[lane] : others[lane];
    return values;
  }
  if (const auto combination = CombinationOf(tree_, node)) {
    const Partials a = Data(combination->a, mask);
    return Combined(combination->combine, a, Data(combination->b, mask), mask);
  }
  if (IsCastKind(tree_.node(node).kind_name) && !parts.empty() && (NamesShared(tree_, node) || LoadsIn(tree_, node)))
    return Data(parts.back(), mask);
  const bool computed = IsPure(tree_, node) && !LoadsIn(tree_, node) && elements_.uniform().IsUniform(node);
  if (computed || IsSpelledConstant(tree_, node)) return Initial(node, mask);
  Refuse(fmt::format("{} is neither an element nor a combination of partial results", Quoted(node)));
  return Partials(lanes_);
}

LockstepRun::Partials LockstepRun::Element(int expression, const Mask& mask) {
  const Integers numbers = Integer(elements_.NumberOf(expression), mask);
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) values[lane] = {FingerprintOf(numbers[lane]), 1, true, false};
  }
  return values;
}

LockstepRun::Partials LockstepRun::Initial(int expression, const Mask& mask) {
  run_.initials.insert(std::string(tree_.Text(expression)));
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) values[lane] = {0, 0, mask[lane] != 0, true};
  return values;
}

LockstepRun::Partials LockstepRun::OfVariable(int variable, const Mask& mask) {
  const auto held = partials_.find(variable);
  const bool all = held != partials_.end() && [&] {
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (mask[lane] && !held->second[lane].defined) return false;
    }
    return true;
  }();
  if (all) return held->second;
  Refuse(fmt::format("`{}` is used before it has a value", tree_.node(variable).name));
  return Partials(lanes_);
}

LockstepRun::Partials LockstepRun::Combined(std::string_view combine, const Partials& a, const Partials& b, const Mask& mask) {
  run_.combines.insert(std::string(combine));
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    if (!a[lane].defined || !b[lane].defined) Refuse("a value is combined that was never stored");
    values[lane] = {a[lane].elements + b[lane].elements, a[lane].count + b[lane].count, true, a[lane].initial || b[lane].initial};
  }
  return values;
}

std::optional<LockstepRun::Place> LockstepRun::SharedPlace(int expression, const Mask& mask) {
  const int node = WithoutParentheses(tree_, expression);
  const int array = SharedArrayOf(tree_, node);
  if (array < 0) {
    Refuse(fmt::format("{} is not an element of an array in shared memory of one dimension", Quoted(node)));
    return std::nullopt;
  }
  if (tree_.node(node).kind_name != "ArraySubscriptExpr") return Place{array, Integers(lanes_)};
  return Place{array, Integer(tree_.node(node).children[1], mask)};
}

LockstepRun::Cell* LockstepRun::CellAt(const Place& place, std::size_t lane) {
  std::vector<Cell>& cells = shared_[place.array];
  const std::int64_t index = place.index[lane];
  if (index < 0 || index >= kMostSharedCells) {
    Refuse(fmt::format("an index of `{}` is out of bounds", tree_.node(place.array).name));
    return nullptr;
  }
  if (static_cast<std::size_t>(index) >= cells.size()) cells.resize(static_cast<std::size_t>(index) + 1);
  return &cells[static_cast<std::size_t>(index)];
}

LockstepRun::Partials LockstepRun::Read(int expression, const Mask& mask) {
  Partials values(lanes_);
  const auto place = SharedPlace(expression, mask);
  for (std::size_t lane = 0; lane < lanes_ && !refused(); ++lane) {
    if (!mask[lane]) continue;
    Cell* cell = CellAt(*place, lane);
    if (cell == nullptr) break;
    const int reader = static_cast<int>(lane);
    const bool raced = cell->write_phase == phase_ && cell->writer != reader;
    if (raced) Refuse(fmt::format("`{}` is read while another thread writes it", tree_.node(place->array).name));
    // -2: several threads.
    cell->reader = cell->read_phase == phase_ && cell->reader != reader ? -2 : reader;
    cell->read_phase = phase_;
    values[lane] = cell->value;
  }
  return values;
}

void LockstepRun::Write(const Place& place, const Partials& values, const Mask& mask, bool atomic) {
  for (std::size_t lane = 0; lane < lanes_ && !refused(); ++lane) {
    if (!mask[lane]) continue;
    Cell* cell = CellAt(place, lane);
    if (cell == nullptr) return;
    const int writer = static_cast<int>(lane);
    const bool written = cell->write_phase == phase_ && cell->writer != writer && !(atomic && cell->atomic);
    const bool read = cell->read_phase == phase_ && cell->reader != writer;
    if (written || read) Refuse(fmt::format("threads race for `{}`", tree_.node(place.array).name));
    cell->value = values[lane];
    cell->writer = atomic ? -1 : writer;
    cell->write_phase = phase_;
    cell->atomic = atomic;
  }
}

}  // namespace evo
