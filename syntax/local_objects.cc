#include "syntax/local_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/splices.h"

namespace evo {
namespace {

// How deep methods of a class call each other.
constexpr int kMostMethods = 4;

std::string ValueType(std::string type) {
  if (type.starts_with("const ")) type.erase(0, 6);
  while (type.ends_with('&') || type.ends_with(' ')) type.pop_back();
  return type;
}

bool IsDependent(const std::string& type) {
  return type.find("type-parameter") != std::string::npos || type.find("dependent") != std::string::npos;
}

bool IsLaunched(const SyntaxTree& tree, int function) {
  const auto& children = tree.node(function).children;
  return std::any_of(children.begin(), children.end(),
                     [&](int child) { return tree.node(child).kind_name == "attribute(global)"; });
}

// Whether a kernel may name the fields of a class.
bool HasOpenFields(const SyntaxTree& tree, int type) {
  const auto has = [text = tree.Text(type)](const std::string& word) { return text.find(word) != std::string_view::npos; };
  return has("struct " + tree.node(type).name) && !has("private:") && !has("protected:");
}

// The type of what a method gives: "T &" of "T &(int) const".
std::string GivenBy(const std::string& method_type) { return method_type.substr(0, method_type.find('(')); }

// Writes one object as variables of its fields.
class ObjectFields {
 public:
  ObjectFields(const SyntaxTree& tree, int variable) : tree_(tree), variable_(variable) {}

  // What is written instead of its declaration and its uses; false if it is used in another way.
  bool Find(Splices& splices) {
    const SyntaxNode& object = tree_.node(variable_);
    const bool is_parameter = object.kind_name == "ParmDecl";
    if ((object.kind_name != "VarDecl" && !is_parameter) || object.function < 0 || object.children.empty() ||
        tree_.node(object.function).kind_name != "FunctionDecl" || object.type.find_first_of("*&[") != std::string::npos)
      return false;
    SourceRange declaration = tree_.node(object.parent).range;
    if (is_parameter) {
      const SyntaxNode& body = tree_.node(tree_.node(object.function).children.back());
      if (!IsLaunched(tree_, object.function) || body.kind_name != "CompoundStmt" || !FindClass() ||
          !HasOpenFields(tree_, class_))
        return false;
      for (const int field : fields_) values_[field] = fmt::format("{}.{}", object.name, tree_.node(field).name);
      declaration = {body.range.begin + 1, body.range.begin + 1};
    } else if (tree_.node(object.parent).kind_name != "DeclStmt" || tree_.node(object.parent).children.size() != 1 ||
               !FindClass() || !FindValues()) {
      return false;
    }
    for (const int use : tree_.UsesOf(variable_)) {
      const auto text = WrittenUse(use);
      if (!text) return false;
      splices.push_back(*text);
    }
    // Fields alone of parameters stay as they are.
    if (is_parameter && !calls_) return false;
    std::string declarations;
    for (const int field : fields_) {
      if (!used_.contains(field)) continue;
      const std::string& type = tree_.node(field).type;
      const std::string spelled = IsDependent(type) ? "auto" : type;
      const char* const before = is_parameter ? "\n  " : declarations.empty() ? "" : " ";
      declarations +=
          fmt::format("{}{}{}{} = {};", before, spelled, spelled.ends_with('*') ? "" : " ", NameOf(field), values_.at(field));
    }
    splices.emplace_back(declaration, declarations);
    return true;
  }

 private:
  bool FindClass() {
    for (const int child : tree_.node(variable_).children) {
      const SyntaxNode& reference = tree_.node(child);
      if ((reference.kind_name != "TypeRef" && reference.kind_name != "TemplateRef") || reference.refers_to < 0) continue;
      const std::string& kind = tree_.node(reference.refers_to).kind_name;
      if (kind != "StructDecl" && kind != "ClassDecl" && kind != "ClassTemplate") continue;
      class_ = reference.refers_to;
      break;
    }
    if (class_ < 0) return false;
    for (const int child : tree_.node(class_).children) {
      const SyntaxNode& member = tree_.node(child);
      if (member.kind_name == "C++ base class specifier") return false;
      if (member.kind_name != "FieldDecl") continue;
      if (member.type.find_first_of("[&(") != std::string::npos) return false;
      fields_.push_back(child);
    }
    return !fields_.empty();
  }

  // What the fields begin with: by a constructor that does nothing else, or by a list.
  bool FindValues() {
    const int value = tree_.node(variable_).children.back();
    const auto& arguments = tree_.node(value).children;
    if (tree_.node(value).kind_name == "InitListExpr") {
      if (arguments.size() != fields_.size() || HasConstructor()) return false;
      for (std::size_t i = 0; i < fields_.size(); ++i) values_[fields_[i]] = tree_.Text(arguments[i]);
      return true;
    }
    if (tree_.node(value).kind_name != "CallExpr" || !tree_.Text(value).ends_with(")")) return false;
    const int constructor = OnlyMember("Constructor", tree_.node(class_).name, arguments.size());
    if (constructor < 0) return false;
    std::map<int, std::string> passed;
    if (!Pass(constructor, arguments, passed)) return false;
    int field = -1;
    for (const int child : tree_.node(constructor).children) {
      const SyntaxNode& part = tree_.node(child);
      if (part.kind_name == "MemberRef") {
        field = FieldNamed(part.name);
        if (field < 0) return false;
      } else if (part.kind_name == "CompoundStmt") {
        if (!part.children.empty()) return false;
      } else if (field >= 0) {
        const auto text = Substituted(Bare(child), passed, 0);
        if (!text) return false;
        values_[field] = *text;
        field = -1;
      }
    }
    return values_.size() == fields_.size();
  }

  bool HasConstructor() const {
    const auto& members = tree_.node(class_).children;
    return std::any_of(members.begin(), members.end(),
                       [&](int one) { return tree_.node(one).kind_name.ends_with("onstructor"); });
  }

  // `(x)` and `{x}` as x.
  int Bare(int expression) const {
    while ((tree_.node(expression).kind_name == "UnexposedExpr" || tree_.node(expression).kind_name == "ParenExpr" ||
            tree_.node(expression).kind_name == "InitListExpr") &&
           tree_.node(expression).children.size() == 1)
      expression = tree_.node(expression).children.front();
    return expression;
  }

  std::vector<int> ParametersOf(int function) const {
    std::vector<int> parameters;
    for (const int child : tree_.node(function).children) {
      if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
    }
    return parameters;
  }

  // The member of this kind and name with so many parameters; -1 if there is none, or several that do not say the same.
  int OnlyMember(std::string_view kind, const std::string& name, std::size_t parameters) const {
    int found = -1;
    for (const int child : tree_.node(class_).children) {
      const SyntaxNode& member = tree_.node(child);
      // "MatrixView<Real>" of a template.
      const bool named = member.name == name || (kind == "Constructor" && member.name.starts_with(name + "<"));
      if (!member.kind_name.ends_with(kind) || !named || ParametersOf(child).size() != parameters) continue;
      if (found >= 0 && tree_.Text(tree_.node(found).children.back()) != tree_.Text(member.children.back())) return -1;
      // Of two that say the same, that which gives the element itself.
      if (found < 0 || !GivenBy(tree_.node(found).type).ends_with('&')) found = child;
    }
    return found;
  }

  int FieldNamed(const std::string& name) const {
    const auto found = std::find_if(fields_.begin(), fields_.end(), [&](int one) { return tree_.node(one).name == name; });
    return found == fields_.end() ? -1 : *found;
  }

  // "A_data" for A's `data_`, or a name that is not there yet.
  std::string NameOf(int field) const {
    std::string name = fmt::format("{}_{}", tree_.node(variable_).name, tree_.node(field).name);
    while (name.ends_with('_')) name.pop_back();
    while (tree_.text().find(name) != std::string::npos) name += "_field";
    return name;
  }

  // The texts of arguments by the parameters.
  bool Pass(int function, const std::vector<int>& arguments, std::map<int, std::string>& passed) const {
    const std::vector<int> parameters = ParametersOf(function);
    if (parameters.size() != arguments.size()) return false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string &given = tree_.node(arguments[i]).type, &taken = tree_.node(parameters[i]).type;
      if (!OnlyComputes(tree_, arguments[i])) return false;
      const std::string from = ValueType(given), to = ValueType(taken);
      const bool pointer = to.find('*') != std::string::npos;
      const bool same = from == to || pointer || IsDependent(to);
      const std::string text(tree_.Text(arguments[i]));
      const bool simple = tree_.Tokens(tree_.node(arguments[i]).range).size() == 1;
      passed[parameters[i]] = same ? (simple ? text : fmt::format("({})", text)) : fmt::format("(({})({}))", to, text);
    }
    return true;
  }

  // An expression of a method or a constructor, with fields as variables and parameters as what is passed.
  std::optional<std::string> Substituted(int expression, const std::map<int, std::string>& passed, int deep) {
    if (!OnlyComputes(tree_, expression) || deep > kMostMethods) return std::nullopt;
    std::vector<std::pair<SourceRange, std::string>> parts;
    for (int at = expression; at < tree_.EndOf(expression);) {
      const SyntaxNode& one = tree_.node(at);
      const int callee = one.kind_name == "CallExpr" && !one.children.empty() ? one.children.front() : -1;
      if (callee >= 0 && IsOfThis(callee) && FieldNamed(tree_.node(callee).name) < 0) {
        const std::vector<int> arguments(one.children.begin() + 1, one.children.end());
        const auto text = MethodOf(tree_.node(callee).name, arguments, one.type, &passed, deep);
        if (!text) return std::nullopt;
        parts.emplace_back(one.range, *text);
      } else if (IsOfThis(at)) {
        const int field = FieldNamed(one.name);
        if (field < 0) return std::nullopt;
        used_.insert(field);
        parts.emplace_back(one.range, NameOf(field));
      } else if (one.kind_name == "CXXThisExpr") {
        return std::nullopt;
      } else if (one.kind_name == "DeclRefExpr" && passed.contains(one.refers_to)) {
        parts.emplace_back(one.range, passed.at(one.refers_to));
      } else {
        if (one.kind_name == "DeclRefExpr" && one.refers_to >= 0 && tree_.node(one.refers_to).parent != 0) return std::nullopt;
        // A type of the template.
        if (one.kind_name == "TypeRef" && one.refers_to >= 0 && tree_.node(one.refers_to).kind_name.starts_with("Template"))
          return std::nullopt;
        ++at;
        continue;
      }
      at = tree_.EndOf(at);
    }
    const SourceRange& range = tree_.node(expression).range;
    std::string text(tree_.Text(expression));
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      text.replace(part->first.begin - range.begin, part->first.size(), part->second);
    return text;
  }

  // `field`, `this->field` or a method of the object itself.
  bool IsOfThis(int node) const {
    const SyntaxNode& member = tree_.node(node);
    if (member.kind_name != "MemberRefExpr") return false;
    return member.children.empty() || tree_.node(member.children.front()).kind_name == "CXXThisExpr";
  }

  // What a call of a method is. `outer`: what the arguments' own names stand for, if it is called by another method.
  std::optional<std::string> MethodOf(const std::string& name, const std::vector<int>& arguments, const std::string& type,
                                      const std::map<int, std::string>* outer, int deep) {
    const int method = OnlyMember("Method", name, arguments.size());
    if (method < 0) return std::nullopt;
    const SyntaxNode& body = tree_.node(tree_.node(method).children.back());
    if (body.kind_name != "CompoundStmt" || body.children.size() != 1) return std::nullopt;
    const SyntaxNode& only = tree_.node(body.children.front());
    if (only.kind_name != "ReturnStmt" || only.children.size() != 1) return std::nullopt;
    std::map<int, std::string> passed;
    if (!Pass(method, arguments, passed)) return std::nullopt;
    if (outer != nullptr) {
      const std::vector<int> parameters = ParametersOf(method);
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto text = Substituted(arguments[i], *outer, deep + 1);
        if (!text) return std::nullopt;
        passed[parameters[i]] = fmt::format("({})", *text);
      }
    }
    const int result = only.children.front();
    const auto text = Substituted(result, passed, deep + 1);
    if (!text) return std::nullopt;
    const std::string own = GivenBy(tree_.node(method).type);
    const bool reference = own.ends_with('&');
    // In a template the type of a call may depend on others.
    const std::string value = ValueType(IsDependent(type) ? own : type);
    const bool same = reference || ValueType(tree_.node(result).type) == value;
    if (!same && IsDependent(value)) return std::nullopt;
    const std::string& kind = tree_.node(result).kind_name;
    if (same && (kind == "ArraySubscriptExpr" || (kind == "MemberRefExpr" && reference))) return text;
    return same ? fmt::format("({})", *text) : fmt::format("(({})({}))", value, *text);
  }

  // A use of the object: a field, or a call of a method.
  std::optional<std::pair<SourceRange, std::string>> WrittenUse(int use) {
    const int parent = tree_.node(use).parent;
    const SyntaxNode& outer = tree_.node(parent);
    if (tree_.node(use).kind_name != "DeclRefExpr" || outer.children.empty() || outer.children.front() != use)
      return std::nullopt;
    std::optional<std::string> text;
    int replaced = parent;
    if (outer.kind_name == "CallExpr" && (outer.name == "operator()" || outer.name == "operator[]")) {
      std::vector<int> arguments(outer.children.begin() + 1, outer.children.end());
      std::erase_if(arguments, [&](int one) { return tree_.node(one).name == outer.name; });
      text = MethodOf(outer.name, arguments, outer.type, nullptr, 0);
    } else if (outer.kind_name == "MemberRefExpr") {
      if (const int field = FieldNamed(outer.name); field >= 0) {
        used_.insert(field);
        return std::pair(outer.range, NameOf(field));
      }
      replaced = outer.parent;
      const SyntaxNode& call = tree_.node(replaced);
      if (call.kind_name != "CallExpr" || call.children.empty() || call.children.front() != parent) return std::nullopt;
      text = MethodOf(outer.name, {call.children.begin() + 1, call.children.end()}, call.type, nullptr, 0);
    }
    if (!text) return std::nullopt;
    calls_ = true;
    if (tree_.Text(replaced).ends_with(';')) *text += ";";
    return std::pair(tree_.node(replaced).range, *text);
  }

  const SyntaxTree& tree_;
  int variable_;
  int class_ = -1;
  std::vector<int> fields_;
  std::map<int, std::string> values_;  // what they begin with
  std::set<int> used_;
  bool calls_ = false;  // whether methods are called
};

}  // namespace

std::optional<std::string> WithoutLocalObjects(const SyntaxTree& tree) {
  if (tree.text().find("struct") == std::string::npos && tree.text().find("class") == std::string::npos) return std::nullopt;
  Splices splices;
  for (int node = 1; node < static_cast<int>(tree.nodes().size()); ++node) {
    Splices more;
    const std::string& kind = tree.node(node).kind_name;
    if ((kind != "VarDecl" && kind != "ParmDecl") || !ObjectFields(tree, node).Find(more)) continue;
    // What is in another is written the next time.
    const auto overlaps = [](const auto& one, const auto& other) {
      return one.first.begin < other.first.end && other.first.begin < one.first.end;
    };
    bool apart = true;
    for (std::size_t i = 0; i < more.size(); ++i) {
      const auto with_one = [&](const auto& other) { return overlaps(more[i], other); };
      apart = apart && std::none_of(splices.begin(), splices.end(), with_one) &&
              std::none_of(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(i), with_one);
    }
    if (apart) splices.insert(splices.end(), more.begin(), more.end());
  }
  return Spliced(tree, std::move(splices));
}

}  // namespace evo
