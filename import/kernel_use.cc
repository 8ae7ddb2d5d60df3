#include "import/kernel_use.h"

#include <algorithm>
#include <regex>

#include "import/element_type.h"

namespace evo {
namespace {

bool IsPointer(const std::string& type) { return type.find('*') != std::string::npos || type.ends_with(']'); }

class UseReader {
 public:
  UseReader(const SourceProgram& program, const ProgramFunction& kernel)
      : program_(program), tree_(program.tree()), kernel_(kernel) {}

  KernelUse Run() {
    for (const ProgramParameter& parameter : kernel_.parameters) {
      ParameterUse& use = result_.parameters[parameter.name];
      if (IsPointer(parameter.type)) {
        conditional_writes_ = 0;
        writes_ = 0;
        seen_.clear();
        Follow(parameter.node, use, 0);
        use.partial = writes_ > 0 && conditional_writes_ == writes_;
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
    for (const ProgramParameter& field : FieldsOf(program_, PointedType(parameter.type))) {
      if (!IsPointer(field.type)) continue;
      ParameterUse use;
      conditional_writes_ = 0;
      writes_ = 0;
      seen_.clear();
      FollowStruct(parameter.node, field.name, use, 0);
      use.partial = writes_ > 0 && conditional_writes_ == writes_;
      result_.parameters[parameter.name + "." + field.name] = use;
    }
  }

  // Every use of a field of a struct, of its copies, and of structs that functions make of it.
  void FollowStruct(int declaration, const std::string& field, ParameterUse& use, int depth) {
    if (depth > 6 || !seen_.insert(declaration).second) return;
    for (const int at : tree_.UsesOf(declaration)) {
      int below = at;
      for (int parent = Node(at).parent; parent > 0; below = parent, parent = Node(parent).parent) {
        const std::string& kind = Node(parent).kind_name;
        if (kind == "MemberRefExpr") {
          if (Node(parent).name == field) Climb(parent, use, depth, false);
          break;
        }
        if (kind == "VarDecl") {
          FollowStruct(parent, field, use, depth + 1);
          break;
        }
        const int function = kind == "CallExpr" ? program_.FindFunction(Node(parent).name) : -1;
        if (function >= 0) {
          const auto& children = Node(parent).children;
          const auto place = std::find(children.begin(), children.end(), below) - children.begin() - 1;
          const auto& parameters = program_.functions()[static_cast<std::size_t>(function)].parameters;
          if (place >= 0 && static_cast<std::size_t>(place) < parameters.size())
            FollowStruct(parameters[static_cast<std::size_t>(place)].node, field, use, depth + 1);
        } else if (kind != "CallExpr" && kind != "UnexposedExpr" && kind != "DeclStmt") {
          break;
        }
      }
    }
  }

  // Every use of a pointer, and of the pointers that are made from it.
  void Follow(int declaration, ParameterUse& use, int depth) {
    if (depth > 6 || !seen_.insert(declaration).second) return;
    for (const int at : tree_.UsesOf(declaration)) Climb(at, use, depth, Node(at).kind_name != "DeclRefExpr");
  }

  // From a use of the pointer outwards to what is done with it. `element`: an element has been reached, not the pointer.
  void Climb(int at, ParameterUse& use, int depth, bool element) {
    for (int parent = Node(at).parent; parent > 0; at = parent, parent = Node(at).parent) {
      const std::string& kind = Node(parent).kind_name;
      const std::string_view op = tree_.Operator(parent);
      if (kind == "ArraySubscriptExpr") {
        if (!IsFirst(at)) return Read(use, element);
        element = true;
      } else if (kind == "UnaryOperator" && op == "*") {
        element = true;
      } else if (kind == "UnaryOperator" && op == "&") {
        element = false;
      } else if (kind == "UnaryOperator" && (op == "++" || op == "--")) {
        if (element) Write(use, at, true);
        return;
      } else if (kind == "BinaryOperator" && op == "=") {
        if (IsFirst(at)) {
          if (element) Write(use, at, false);
          return;
        }
        if (element) return Read(use, true);
        return Alias(Node(parent).children.front(), use, depth);
      } else if (kind == "CompoundAssignOperator" || (kind == "BinaryOperator" && op.size() > 1 && op.ends_with('=') &&
                                                      op != "==" && op != "!=" && op != "<=" && op != ">=")) {
        if (element) {
          if (IsFirst(at)) return Write(use, at, true);
          return Read(use, true);
        }
        return;
      } else if (kind == "CallExpr" && element && Node(parent).name.starts_with("operator") &&
                 Node(parent).range.begin == Node(at).range.begin && Node(parent).name.ends_with('=')) {
        return Write(use, at, Node(parent).name != "operator=");  // of float4 or another struct
      } else if (kind == "CallExpr") {
        return Call(parent, at, use, depth, element);
      } else if (kind == "VarDecl") {
        if (element && Node(parent).type.find('&') == std::string::npos) return Read(use, true);
        return Follow(parent, use, depth + 1);
      } else if (kind == "DeclStmt" || kind == "CompoundStmt" || kind == "ReturnStmt" || kind == "IfStmt" || kind == "ForStmt") {
        return Read(use, element);
      } else if (kind == "BinaryOperator" && element) {
        return Read(use, true);
      }
      // Parentheses, casts, members, pointer sums: further out.
    }
  }

  void Alias(int left, ParameterUse& use, int depth) {
    if (Node(left).kind_name != "MemberRefExpr" && Node(left).refers_to >= 0) Follow(Node(left).refers_to, use, depth + 1);
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

  static void Read(ParameterUse& use, bool element) {
    if (element) use.read = true;
  }

  void Write(ParameterUse& use, int at, bool also_read) {
    use.written = true;
    use.read |= also_read;
    ++writes_;
    static const std::regex kEdge(
        R"(>\s*0|>=\s*1\b|-\s*1\b|!=\s*0|>=\s*\w*(radius|halo|RADIUS|HALO)|-\s*\w*(radius|halo|RADIUS|HALO))");
    for (int parent = Node(at).parent; parent > kernel_.node; parent = Node(parent).parent) {
      if (Node(parent).kind_name != "IfStmt" || Node(parent).children.empty()) continue;
      const std::string condition(tree_.Text(Node(parent).children.front()));
      if (condition.find("threadIdx") == std::string::npos && std::regex_search(condition, kEdge)) {
        ++conditional_writes_;
        return;
      }
    }
  }

  void Call(int call, int argument, ParameterUse& use, int depth, bool element) {
    std::string name = Node(call).name;
    const std::string text(tree_.Text(call));
    if (name.empty()) name = text.substr(0, text.find_first_of("<( "));
    if (name.starts_with("atomic")) {
      use.atomic = true;
      return Write(use, call, true);
    }
    if (name == "__ldg" || name == "__ldcs" || name == "__ldca" || name == "__ldcg" || name == "load_matrix_sync") {
      use.read = true;
      return;
    }
    if (name == "__stcs" || name == "__stcg" || name == "__stwt" || name == "store_matrix_sync") return Write(use, call, false);
    if (element) return Read(use, true);
    const int function = program_.FindFunction(name);
    const auto& children = Node(call).children;
    const auto place = std::find(children.begin(), children.end(), argument) - children.begin() - 1;
    if (function >= 0 && place >= 0) {
      const auto& parameters = program_.functions()[static_cast<std::size_t>(function)].parameters;
      if (static_cast<std::size_t>(place) < parameters.size())
        return Follow(parameters[static_cast<std::size_t>(place)].node, use, depth + 1);
    }
    use.read = true;
    if (name.find("store") != std::string::npos || name.find("copy") != std::string::npos) Write(use, call, false);
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
    const bool of_thread = std::any_of(begins, first, [](auto token) {
      return token == "threadIdx" || token.find("rank") != token.npos || token.find("lane") != token.npos || token == "tid" ||
             token == "tx" || token == "idx";
    });
    return single || of_thread;
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
    for (int parent = Node(at).parent; parent > kernel_.node; at = parent, parent = Node(parent).parent) {
      if (Node(parent).kind_name != "ArraySubscriptExpr" || IsFirst(at)) continue;
      const int base = Node(parent).children.front();
      if (!Node(base).name.empty()) use.indexes.insert(Node(base).name);
    }
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
  KernelUse result_;
  std::set<int> seen_;
  int writes_ = 0;
  int conditional_writes_ = 0;
};

}  // namespace

KernelUse UseOf(const SourceProgram& program, const ProgramFunction& kernel) { return UseReader(program, kernel).Run(); }

}  // namespace evo
