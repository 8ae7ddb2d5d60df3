#include "import/pointer_follower.h"

#include <algorithm>
#include <regex>

namespace evo {
namespace {

// `float &x = p[i]`: what is done with x is done with the element.
bool IsElementReference(const std::string& type) {
  return type.find('&') != std::string::npos && type.find_first_of("*[") == std::string::npos;
}

}  // namespace

ParameterUse PointerFollower::Of(int declaration) {
  Begin();
  Follow(declaration, 0);
  return End();
}

ParameterUse PointerFollower::OfField(int declaration, const std::string& field) {
  Begin();
  FollowStruct(declaration, field, 0);
  return End();
}

void PointerFollower::Begin() {
  use_ = {};
  seen_.clear();
  writes_ = 0;
  conditional_writes_ = 0;
}

ParameterUse PointerFollower::End() {
  use_.partial = writes_ > 0 && conditional_writes_ == writes_;
  return use_;
}

// Every use of a field of a struct, of its copies, and of structs that functions make of it.
void PointerFollower::FollowStruct(int declaration, const std::string& field, int depth) {
  if (depth > 6 || !seen_.insert(declaration).second) return;
  for (const int at : tree_.UsesOf(declaration)) {
    int below = at;
    std::string left = field;  // `inner.data`, of which `inner` has been reached, is `data`
    for (int parent = Node(at).parent; parent > 0; below = parent, parent = Node(parent).parent) {
      const std::string& kind = Node(parent).kind_name;
      if (kind == "MemberRefExpr") {
        const std::size_t dot = left.find('.');
        if (Node(parent).name == left) {
          Climb(parent, depth, false);
        } else if (Node(parent).name == left.substr(0, dot)) {
          left = left.substr(dot + 1);
          continue;
        } else if (Node(Node(parent).parent).kind_name == "CallExpr") {
          CallMethod(Node(parent).parent, Node(parent).name, left, depth);
        }
        break;
      }
      // `view(i, j)`; in a template the call has the name of what is called.
      const std::string& called = Node(parent).name;
      if (kind == "CallExpr" && IsFirst(below) && (called.empty() || called == Node(at).name || called.starts_with("operator"))) {
        CallMethod(parent, called.starts_with("operator") ? called : "operator()", left, depth);
        break;
      }
      if (kind == "VarDecl") {
        FollowStruct(parent, left, depth + 1);
        break;
      }
      const int function = kind == "CallExpr" ? program_.FindFunction(Node(parent).name) : -1;
      if (function >= 0) {
        const auto& children = Node(parent).children;
        const auto place = std::find(children.begin(), children.end(), below) - children.begin() - 1;
        const auto& parameters = program_.functions()[static_cast<std::size_t>(function)].parameters;
        if (place >= 0 && static_cast<std::size_t>(place) < parameters.size())
          FollowStruct(parameters[static_cast<std::size_t>(place)].node, left, depth + 1);
      } else if (kind != "CallExpr" && kind != "UnexposedExpr" && kind != "DeclStmt") {
        break;
      }
    }
  }
}

// A call of a struct's own function, such as `view(i, j) = 1`: what it does with the field, and what is done with the element
// or the pointer that it returns.
void PointerFollower::CallMethod(int call, const std::string& method, const std::string& field, int depth) {
  if (depth > 6) return;
  for (const ProgramFunction& one : program_.functions()) {
    if (one.record.empty() || one.name != method) continue;
    const std::string_view head = std::string_view(tree_.text()).substr(one.range.begin, one.body.begin - one.range.begin);
    const std::string result(head.substr(0, head.find(method)));
    const bool reference = result.find('&') != std::string::npos, pointer = result.find('*') != std::string::npos;
    bool returned = false;
    for (int at = one.node; at < tree_.EndOf(one.node); ++at) {
      if (Node(at).kind_name != "MemberRefExpr" || Node(at).name != field) continue;
      int statement = Node(at).parent;
      while (statement > one.node && Node(statement).kind_name != "ReturnStmt") statement = Node(statement).parent;
      if (statement > one.node && (reference || pointer)) {
        returned = true;
      } else {
        Climb(at, depth + 1, false);
      }
    }
    if (returned) Climb(call, depth + 1, reference);
    return;
  }
}

// Every use of a pointer, and of the pointers that are made from it.
void PointerFollower::Follow(int declaration, int depth) {
  if (depth > 6 || !seen_.insert(declaration).second) return;
  const bool element = IsElementReference(Node(declaration).type);
  for (const int at : tree_.UsesOf(declaration)) Climb(at, depth, element || Node(at).kind_name != "DeclRefExpr");
}

// From a use of the pointer outwards to what is done with it. `element`: an element has been reached, not the pointer.
void PointerFollower::Climb(int at, int depth, bool element) {
  for (int parent = Node(at).parent; parent > 0; at = parent, parent = Node(at).parent) {
    const std::string& kind = Node(parent).kind_name;
    const std::string_view op = tree_.Operator(parent);
    if (kind == "ArraySubscriptExpr") {
      if (!IsFirst(at)) return Read(element);
      element = true;
    } else if (kind == "UnaryOperator" && op == "*") {
      element = true;
    } else if (kind == "UnaryOperator" && op == "&") {
      element = false;
    } else if (kind == "UnaryOperator" && (op == "++" || op == "--")) {
      if (element) Write(at, true);
      return;
    } else if (kind == "BinaryOperator" && op == "=") {
      if (IsFirst(at)) {
        if (element) Write(at, false);
        return;
      }
      if (element) return Read(true);
      return Alias(Node(parent).children.front(), depth);
    } else if (kind == "CompoundAssignOperator" || (kind == "BinaryOperator" && op.size() > 1 && op.ends_with('=') &&
                                                    op != "==" && op != "!=" && op != "<=" && op != ">=")) {
      if (element) {
        if (IsFirst(at)) return Write(at, true);
        return Read(true);
      }
      return;
    } else if (kind == "CallExpr" && element && Node(parent).name.starts_with("operator") &&
               Node(parent).range.begin == Node(at).range.begin && Node(parent).name.ends_with('=')) {
      return Write(at, Node(parent).name != "operator=");  // of float4 or another struct
    } else if (kind == "CallExpr") {
      return Call(parent, at, depth, element);
    } else if (kind == "VarDecl") {
      if (element && Node(parent).type.find('&') == std::string::npos) return Read(true);
      return Follow(parent, depth + 1);
    } else if (kind == "DeclStmt" || kind == "CompoundStmt" || kind == "ReturnStmt" || kind == "IfStmt" || kind == "ForStmt") {
      return Read(element);
    } else if (kind == "BinaryOperator" && element) {
      return Read(true);
    }
    // Parentheses, casts, members, pointer sums: further out.
  }
}

void PointerFollower::Alias(int left, int depth) {
  if (Node(left).kind_name != "MemberRefExpr" && Node(left).refers_to >= 0) Follow(Node(left).refers_to, depth + 1);
}

void PointerFollower::Read(bool element) {
  if (element) use_.read = true;
}

void PointerFollower::Write(int at, bool also_read) {
  use_.written = true;
  use_.read |= also_read;
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
  if (IsBehindReturnsAtEdges(at)) ++conditional_writes_;
}

// Whether threads at both ends have returned before: `if (i < 1 || i >= n - 1) return;`.
bool PointerFollower::IsBehindReturnsAtEdges(int at) const {
  static const std::regex kLow(R"(<\s*1\b|<=\s*0\b|==\s*0\b|<\s*\w*(radius|halo|RADIUS|HALO))");
  static const std::regex kHigh(R"((>=|==|>)\s*[\w.>-]+\s*-\s*(1\b|\w*(radius|halo|RADIUS|HALO)))");
  bool low = false, high = false;
  for (int parent = Node(at).parent; parent > kernel_.node; at = parent, parent = Node(parent).parent) {
    for (const int before : Node(parent).children) {
      if (before >= at || Node(parent).kind_name != "CompoundStmt") break;
      if (Node(before).kind_name != "IfStmt" || Node(before).children.size() != 2) continue;
      int ended = Node(before).children[1];
      if (Node(ended).kind_name == "CompoundStmt" && Node(ended).children.size() == 1) ended = Node(ended).children[0];
      const std::string condition(tree_.Text(Node(before).children[0]));
      if (Node(ended).kind_name != "ReturnStmt" || condition.find("threadIdx") != std::string::npos) continue;
      low = low || std::regex_search(condition, kLow);
      high = high || std::regex_search(condition, kHigh);
    }
  }
  return low && high;
}

void PointerFollower::Call(int call, int argument, int depth, bool element) {
  std::string name = Node(call).name;
  const std::string text(tree_.Text(call));
  if (name.empty()) name = text.substr(0, text.find_first_of("<( "));
  if (name.starts_with("atomic")) {
    use_.atomic = true;
    return Write(call, true);
  }
  if (name == "__ldg" || name == "__ldcs" || name == "__ldca" || name == "__ldcg" || name == "load_matrix_sync") {
    use_.read = true;
    return;
  }
  if (name == "__stcs" || name == "__stcg" || name == "__stwt" || name == "store_matrix_sync") return Write(call, false);
  const int function = program_.FindFunction(name);
  const auto& children = Node(call).children;
  const auto place = std::find(children.begin(), children.end(), argument) - children.begin() - 1;
  const ProgramParameter* passed = nullptr;
  if (function >= 0 && place >= 0) {
    const auto& parameters = program_.functions()[static_cast<std::size_t>(function)].parameters;
    if (static_cast<std::size_t>(place) < parameters.size()) passed = &parameters[static_cast<std::size_t>(place)];
  }
  if (element && (passed == nullptr || !IsElementReference(passed->type))) return Read(true);
  if (passed != nullptr) return Follow(passed->node, depth + 1);
  use_.read = true;
  if (name.find("store") != std::string::npos || name.find("copy") != std::string::npos) Write(call, false);
}

}  // namespace evo
