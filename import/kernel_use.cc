#include "import/kernel_use.h"

#include <algorithm>

#include "import/element_type.h"
#include "import/pointer_follower.h"

namespace evo {
namespace {

bool IsPointer(const std::string& type) { return type.find('*') != std::string::npos || type.ends_with(']'); }

class UseReader {
 public:
  UseReader(const SourceProgram& program, const ProgramFunction& kernel)
      : program_(program), tree_(program.tree()), kernel_(kernel), follower_(program, kernel) {}

  KernelUse Run() {
    for (const ProgramParameter& parameter : kernel_.parameters) {
      ParameterUse& use = result_.parameters[parameter.name];
      if (IsPointer(parameter.type)) {
        use = follower_.Of(parameter.node);
        Subscripts(parameter.node, use);
        for (const int at : tree_.UsesOf(parameter.node)) Root(at, use, 0);
      } else {
        use.guarded = IsGuarded(parameter.node);
        ReadFields(parameter);
      }
    }
    for (int node = kernel_.node; node < tree_.EndOf(kernel_.node); ++node) ReadNode(node);
    ReadAssertions();
    return std::move(result_);
  }

 private:
  const SyntaxNode& Node(int index) const { return tree_.node(index); }
  bool IsFirst(int node) const { return Node(Node(node).parent).children.front() == node; }

  // What the kernel does with the pointers in a struct.
  void ReadFields(const ProgramParameter& parameter) {
    for (const ProgramParameter& field : FlatFieldsOf(program_, PointedType(parameter.type))) {
      if (IsPointer(field.type))
        result_.parameters[parameter.name + "." + field.name] = follower_.OfField(parameter.node, field.name);
    }
  }

  // The root of an element, or of the variable that it is loaded into, must not be negative. One that is part of a sum or a
  // product may be.
  void Root(int from, ParameterUse& use, int depth) {
    static const std::set<std::string, std::less<>> kRoots = {"sqrt", "sqrtf", "rsqrt", "rsqrtf", "log", "logf", "__logf"};
    for (int at = from, parent = Node(at).parent; parent > kernel_.node; at = parent, parent = Node(at).parent) {
      const std::string& kind = Node(parent).kind_name;
      if (kind == "CallExpr") {
        std::string name = Node(parent).name;
        if (name.empty()) name = std::string(tree_.Text(parent).substr(0, tree_.Text(parent).find('(')));
        use.nonnegative |= kRoots.contains(name);
        return;
      }
      if (kind == "VarDecl" && depth == 0) {
        for (const int use_of : tree_.UsesOf(parent)) Root(use_of, use, 1);
        return;
      }
      const bool divides = kind == "BinaryOperator" && tree_.Operator(parent) == "/" && IsFirst(at);
      if (kind != "ParenExpr" && kind != "UnexposedExpr" && kind != "ArraySubscriptExpr" && kind.find("Cast") == kind.npos &&
          !divides)
        return;
    }
  }

  // A condition that compares the integer, or a loop of single steps up to it.
  bool IsGuarded(int declaration) const {
    for (const int use : tree_.UsesOf(declaration)) {
      int below = use;
      for (int parent = Node(use).parent; parent > kernel_.node; below = parent, parent = Node(parent).parent) {
        const std::string& kind = Node(parent).kind_name;
        const bool condition = !Node(parent).children.empty() && Node(parent).children.front() == below;
        if ((kind == "IfStmt" || kind == "WhileStmt" || kind == "ConditionalOperator") && condition) return true;
        if (kind == "ForStmt") {
          if (below != Node(parent).children.back() && ReachesEvery(parent)) return true;
        }
      }
    }
    return false;
  }

  // A loop of single steps, or one that begins at a place of the thread's own, ends where its condition says, at any number.
  bool ReachesEvery(int loop) const {
    const auto tokens = tree_.Tokens(Node(loop).range);
    std::size_t end = 0;
    for (int depth = 0; end < tokens.size(); ++end) {
      if (tokens[end] == "(") ++depth;
      if (tokens[end] == ")" && --depth == 0) break;
    }
    const std::vector<std::string_view> head(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end));
    const auto first = std::find(head.begin(), head.end(), ";");
    const auto equals = std::find(head.begin(), first, "=");
    const bool single = std::any_of(first, head.end(), [](auto token) {
      return token == "++" || token == "--" || token == "blockDim" || token == "gridDim";
    });
    // `c = lane; c < N; c += 32` takes any N; `k = 0; k < N; k += TILE` does not.
    const auto begins = equals == first ? first : equals + 1;
    const bool of_thread = std::any_of(begins, first, [&](auto token) {
      return token == "threadIdx" || this->IsOfThread(token) || token.find("rank") != token.npos ||
             token.find("lane") != token.npos || token == "tid" || token == "tx" || token == "idx";
    });
    return single || of_thread;
  }

  // Whether the kernel has a variable of this name that begins with the thread's own place.
  bool IsOfThread(std::string_view name) const {
    for (int node = kernel_.node; node < tree_.EndOf(kernel_.node); ++node) {
      if (Node(node).kind_name == "VarDecl" && Node(node).name == name)
        return tree_.Text(node).find("threadIdx") != std::string_view::npos;
    }
    return false;
  }

  void Subscripts(int declaration, ParameterUse& use) {
    for (const int at : tree_.UsesOf(declaration)) {
      const int parent = Node(at).parent;
      if (parent < 0 || !IsFirst(at) || Node(parent).children.size() < 2) continue;
      const std::string& kind = Node(parent).kind_name;
      // x[row * n + i], x += row * n, and x + row * n.
      if (kind != "ArraySubscriptExpr" && kind != "CompoundAssignOperator" && tree_.Operator(parent) != "+") continue;
      const auto tokens = tree_.Tokens(Node(Node(parent).children.back()).range);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i] != "*") continue;
        if (i > 0) use.strides.emplace(tokens[i - 1]);
        if (i + 1 < tokens.size()) use.strides.emplace(tokens[i + 1]);
      }
      if (kind != "ArraySubscriptExpr") continue;
      Bound(Node(parent).children.back(), use);
      // Where does the element go: into another subscript, directly or through a variable?
      Indexed(parent, use);
      int outer = Node(parent).parent;
      while (outer > kernel_.node && Node(outer).kind_name != "VarDecl") outer = Node(outer).parent;
      if (outer > kernel_.node) {
        for (const int copy : tree_.UsesOf(outer)) Indexed(copy, use);
      }
    }
  }

  // x[i] where i is compared with a parameter, and x[blockIdx.x].
  void Bound(int subscript, ParameterUse& use) const {
    if (tree_.Text(subscript) == "blockIdx.x") use.bounds.insert("gridDim.x");
    const int variable = Node(subscript).refers_to;
    if (variable < 0 || Node(variable).kind_name != "VarDecl") return;
    for (const int at : tree_.UsesOf(variable)) {
      const int parent = Node(at).parent;
      const std::string_view op = tree_.Operator(parent);
      if (op != "<" && op != ">=" && op != ">" && op != "<=") continue;
      for (const int side : Node(parent).children) {
        const int other = Node(side).refers_to;
        if (other >= 0 && Node(other).kind_name == "ParmDecl") use.bounds.insert(Node(other).name);
      }
    }
  }

  void Indexed(int at, ParameterUse& use) const {
    const int element = at;
    for (int parent = Node(at).parent; parent > kernel_.node; at = parent, parent = Node(parent).parent) {
      if (Node(parent).kind_name != "ArraySubscriptExpr" || IsFirst(at)) continue;
      const int base = Node(parent).children.front();
      const int made = PointerMadeOf(Node(base).refers_to);
      const std::string& name = made >= 0 ? Node(made).name : Node(base).name;
      if (name.empty()) continue;
      use.indexes.insert(name);
      if (IsColumn(element, parent, made >= 0)) use.columns.insert(name);
    }
  }

  // The kernel's parameter from which a variable begins, `const float* row = x + i * n`; -1 if it is none such.
  int PointerMadeOf(int variable) const {
    if (variable < 0 || Node(variable).kind_name != "VarDecl" || Node(variable).type.find('*') == std::string::npos) return -1;
    for (int node = variable; node < tree_.EndOf(variable); ++node) {
      const int named = Node(node).refers_to;
      if (named >= 0 && Node(named).kind_name == "ParmDecl" && Node(named).type.find('*') != std::string::npos) return named;
    }
    return -1;
  }

  // Whether an element is added to the begin of a row: `x[row * n + element]`, and `row_of_x[element]`.
  bool IsColumn(int element, int subscript, bool of_row) const {
    bool is_added = false;
    for (int at = element; at != subscript; at = Node(at).parent) {
      if (tree_.Operator(at) == "*") return false;
      is_added = is_added || tree_.Operator(at) == "+";
    }
    return of_row || is_added;
  }

  void ReadNode(int node) {
    const std::string& kind = Node(node).kind_name;
    if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") result_.loops = true;
    if (tree_.Operator(node) == "+=" || tree_.Operator(node) == "-=") result_.accumulates |= result_.loops;
    static const std::set<std::string, std::less<>> kMath = {"exp", "expf", "__expf", "tanh",  "tanhf",  "erf",   "erff",
                                                             "log", "logf", "__logf", "pow",   "powf",   "sin",   "sinf",
                                                             "cos", "cosf", "sqrt",   "sqrtf", "rsqrtf", "rsqrt", "exp2f"};
    if (kind == "CallExpr" && kMath.contains(Node(node).name)) result_.transcendental = true;
  }

  void ReadAssertions() {
    const auto& tokens = program_.tokens();
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if ((program_.Token(i) != "assert" && program_.Token(i) != "static_assert") || program_.Token(i + 1) != "(") continue;
      std::size_t end = program_.AfterBracket(i + 1) - 1;
      for (std::size_t j = i + 2; j < end; ++j) {
        if (program_.Token(j) == "(") j = program_.AfterBracket(j) - 1;
        if (program_.Token(j) == ",") end = j;
      }
      if (end > i + 2 && end < tokens.size()) result_.assertions.push_back({tokens[i + 2].begin, tokens[end - 1].end});
    }
  }

  const SourceProgram& program_;
  const SyntaxTree& tree_;
  const ProgramFunction& kernel_;
  PointerFollower follower_;
  KernelUse result_;
};

}  // namespace

KernelUse UseOf(const SourceProgram& program, const ProgramFunction& kernel) { return UseReader(program, kernel).Run(); }

}  // namespace evo
