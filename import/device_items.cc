#include "import/device_items.h"

#include <algorithm>
#include <utility>

#include "kernel_templates/directive_lexer.h"

namespace evo {

DeviceItems::DeviceItems(const SourceProgram& program, const std::set<std::string>& kernels, const std::set<std::string>& types)
    : program_(program), tree_(program.tree()), kernels_(kernels) {
  ReadItems(0);
  MergeItems();
  for (const std::string& type : types) AddWords(type);
  Close();
}

void DeviceItems::ReadItems(int parent) {
  for (const int child : tree_.node(parent).children) {
    const SyntaxNode& node = tree_.node(child);
    const std::string_view text = tree_.Text(child);
    const bool block = node.kind_name == "Namespace" ||
                       ((node.kind_name == "UnexposedDecl" || node.kind_name == "LinkageSpec") && IsBlock(text));
    if (block) {
      scopes_.push_back(node.range);
      scope_names_.push_back(node.kind_name == "Namespace" ? node.name : "");
      ReadItems(child);
    } else if (node.kind_name == "UnexposedDecl" && !node.children.empty()) {
      AddItem(child, node.children.front());  // extern "C" __global__ ..
    } else {
      AddItem(child, child);
    }
  }
}

bool DeviceItems::IsBlock(std::string_view text) {
  const auto tokens = SpelledTokens(text.substr(0, 200));
  return tokens.size() > 2 && tokens[0] == "extern" && tokens[2] == "{";
}

void DeviceItems::AddItem(int outer, int inner) {
  const SyntaxNode& node = tree_.node(inner);
  DeviceItem item;
  item.range = tree_.node(outer).range;
  item.nodes.push_back(inner);
  item.names.insert(node.name);
  // A declaration reaches back to the end of the one before it, over attributes that clang does not count.
  std::size_t first = program_.TokenAt(item.range.begin);
  while (first > 0 && program_.Token(first - 1) != ";" && program_.Token(first - 1) != "}" && program_.Token(first - 1) != "{")
    --first;
  if (first < program_.tokens().size()) item.range.begin = std::min(item.range.begin, program_.tokens()[first].begin);
  const std::size_t last = program_.TokenAt(item.range.end);
  if (program_.Token(last) == ";") item.range.end = program_.tokens()[last].end;
  const auto has = [&](std::string_view name) {
    return std::any_of(node.children.begin(), node.children.end(), [&](int c) { return tree_.node(c).kind_name == name; });
  };
  const std::string& kind = node.kind_name;
  const std::string_view head = program_.Text(item.range).substr(0, 300);
  const bool constant = head.find("constexpr") != std::string_view::npos;
  if (kind == "FunctionDecl" || kind == "FunctionTemplate" || kind == "CXXMethod") {
    item.host = !has("attribute(device)") && !has("attribute(global)") && !constant;
    if (has("attribute(global)")) item.host = !kernels_.contains(node.name) || !has("CompoundStmt");
  } else if (kind == "VarDecl") {
    item.variable = true;
    const bool device = has("attribute(device)") || has("attribute(constant)");
    item.host = !device && !constant && node.type.find("const ") == std::string::npos;
  } else if (kind == "EnumDecl") {
    for (const int child : node.children) item.names.insert(tree_.node(child).name);
  } else if (kind == "UsingDirective") {
    item.host = head.find(" std") != std::string_view::npos;
    if (!item.host) item.names.insert("using namespace");
  } else if (kind == "ClassTemplateSpecialization" || kind == "ClassTemplatePartialSpecialization") {
    item.names.insert(node.name.substr(0, node.name.find('<')));
  }
  items_.push_back(std::move(item));
}

// A struct and its typedef, or several variables, are one text.
void DeviceItems::MergeItems() {
  std::sort(items_.begin(), items_.end(), [](const DeviceItem& a, const DeviceItem& b) { return a.range.begin < b.range.begin; });
  std::vector<DeviceItem> merged;
  for (DeviceItem& item : items_) {
    if (!merged.empty() && item.range.begin < merged.back().range.end) {
      DeviceItem& into = merged.back();
      into.range.end = std::max(into.range.end, item.range.end);
      into.names.insert(item.names.begin(), item.names.end());
      into.nodes.insert(into.nodes.end(), item.nodes.begin(), item.nodes.end());
      into.host = into.host && item.host;
      into.variable = into.variable && item.variable;
    } else {
      merged.push_back(std::move(item));
    }
  }
  items_ = std::move(merged);
}

void DeviceItems::AddWords(std::string_view text) {
  std::string_view before;
  for (const std::string_view token : SpelledTokens(text)) {
    if (IsWord(token)) words_.emplace(token);
    if (IsWord(token) && before != "::") plain_.emplace(token);
    before = token;
  }
  // Preprocessor lines inside of functions, such as `#pragma unroll UNROLL`, have no tokens.
  for (const SourceLine& line : SplitLines(text)) {
    if (!Trim(line.text).starts_with('#')) continue;
    for (const std::string_view token : SpelledTokens(Trim(line.text).substr(1))) {
      if (!IsWord(token)) continue;
      words_.emplace(token);
      plain_.emplace(token);
    }
  }
}

bool DeviceItems::IsReferredTo(const DeviceItem& item) const {
  for (const int node : item.nodes) {
    for (const int use : tree_.UsesOf(node)) {
      const std::uint32_t at = tree_.node(use).range.begin;
      if (std::any_of(items_.begin(), items_.end(),
                      [&](const DeviceItem& other) { return other.kept && other.range.begin <= at && at < other.range.end; }))
        return true;
    }
  }
  // A macro's body may name it, too.
  return std::any_of(item.names.begin(), item.names.end(), [&](const std::string& name) { return macro_words_.contains(name); });
}

// Whether it stands in a namespace that nothing names and that has nothing of what is kept.
bool DeviceItems::IsOutOfReach(const DeviceItem& item) const {
  bool named_scope = false;
  for (std::size_t i = 0; i < scopes_.size(); ++i) {
    named_scope = named_scope || (!scope_names_[i].empty() && scopes_[i].Contains(item.range));
    if (scope_names_[i].empty() || !scopes_[i].Contains(item.range) || words_.contains(scope_names_[i])) continue;
    if (std::none_of(items_.begin(), items_.end(), [&](const auto& one) { return one.kept && scopes_[i].Contains(one.range); }))
      return true;
  }
  // lib::f does not name an f outside of namespaces.
  return !named_scope && std::none_of(item.names.begin(), item.names.end(), [&](const std::string& name) {
    return name == "using namespace" || plain_.contains(name);
  });
}

// Adds what the kept parts name, until nothing more is named.
void DeviceItems::Close() {
  for (DeviceItem& item : items_) {
    const bool kernel = std::any_of(item.names.begin(), item.names.end(), [&](const auto& n) { return kernels_.contains(n); });
    if (kernel && !item.host) Keep(item);
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (DeviceItem& item : items_) {
      if (item.kept || item.host) continue;
      const bool named = std::any_of(item.names.begin(), item.names.end(),
                                     [&](const std::string& name) { return name == "using namespace" || words_.contains(name); });
      if (!named || (item.variable && !IsReferredTo(item)) || IsOutOfReach(item)) continue;
      Keep(item);
      grown = true;
    }
    for (const ProgramMacro& macro : program_.macros()) {
      if (!words_.contains(macro.name) || !macros_.insert(macro.range.begin).second) continue;
      AddWords(macro.body);
      for (const std::string_view token : SpelledTokens(macro.body)) macro_words_.emplace(token);
      grown = true;
    }
  }
}

void DeviceItems::Keep(DeviceItem& item) {
  item.kept = true;
  const std::set<std::string> before = plain_;
  AddWords(program_.Text(item.range));
  // Its own name at its definition is no use of another of this name.
  const auto tokens = program_.Tokens(item.range);
  for (const std::string& name : item.names) {
    if (!before.contains(name) && std::count(tokens.begin(), tokens.end(), name) == 1) plain_.erase(name);
  }
}

}  // namespace evo
