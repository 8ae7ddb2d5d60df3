#include "import/element_type.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>

#include "kernel_templates/dtype.h"

namespace evo {
namespace {

std::string WithoutWords(std::string type) {
  for (const std::string_view word :
       {"const ", " const", "volatile ", "__restrict__", "__restrict", "restrict", "struct ", "&"}) {
    for (std::size_t at = type.find(word); at != std::string::npos; at = type.find(word)) type.erase(at, word.size());
  }
  if (type.ends_with("*const")) type.erase(type.size() - 5);
  while (!type.empty() && type.back() == ' ') type.pop_back();
  while (!type.empty() && type.front() == ' ') type.erase(0, 1);
  return type;
}

// At commas outside of angle brackets.
std::vector<std::string> TypesBetween(const std::string& list) {
  std::vector<std::string> types(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == ',' && depth == 0) {
      types.emplace_back();
    } else if (c != ' ' || !types.back().empty()) {
      types.back() += c;
    }
  }
  return types;
}

}  // namespace

int ElementType::bytes() const {
  const auto parsed = ParseDtype(dtype);
  return count * (parsed ? static_cast<int>(ByteSize(*parsed)) : 4);
}

bool IsPointerType(const std::string& type) { return type.find('*') != std::string::npos || type.ends_with(']'); }

std::string PointedType(const std::string& type) {
  std::string plain = WithoutWords(type);
  if (plain.ends_with('*')) plain.pop_back();
  if (const std::size_t bracket = plain.find('['); bracket != std::string::npos) plain.erase(bracket);
  return WithoutWords(plain);
}

bool IsTypeOfNumber(std::string_view type) {
  constexpr std::array<std::string_view, 12> kWords{"const", "unsigned", "signed", "int",    "long",   "short",
                                                    "char",  "bool",     "float",  "double", "size_t", "uint"};
  const auto words = SpelledTokens(type);
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end() || word.ends_with("_t");
  });
}

std::vector<ProgramParameter> FieldsOf(const SourceProgram& program, const std::string& type) {
  const SyntaxTree& tree = program.tree();
  const std::size_t angle = std::min(type.find('<'), type.size());
  const std::string base = type.substr(0, angle);
  const std::string name = base.substr(base.rfind(':') == std::string::npos ? 0 : base.rfind(':') + 1);
  const std::vector<std::string> given =
      angle < type.size() ? TypesBetween(type.substr(angle + 1, type.rfind('>') - angle - 1)) : std::vector<std::string>{};
  for (const SyntaxNode& node : tree.nodes()) {
    const bool record = node.kind_name == "StructDecl" || node.kind_name == "ClassDecl" || node.kind_name == "ClassTemplate";
    if (!record || node.name != name || node.children.empty()) continue;
    std::vector<ProgramParameter> fields;
    for (const int child : node.children) {
      if (tree.node(child).kind_name != "FieldDecl") continue;
      std::string field = tree.node(child).type;
      for (std::size_t t = 0; t < given.size(); ++t) {
        const std::string placeholder = "type-parameter-0-" + std::to_string(t);
        if (const std::size_t at = field.find(placeholder); at != std::string::npos)
          field.replace(at, placeholder.size(), given[t]);
      }
      fields.push_back({tree.node(child).name, std::move(field), child});
    }
    if (!fields.empty()) return fields;
  }
  return {};
}

bool HasOnlyFunctions(const SourceProgram& program, const std::string& type) {
  const std::string base = type.substr(0, type.find('<'));
  const std::string name = base.substr(base.rfind(':') == std::string::npos ? 0 : base.rfind(':') + 1);
  const SyntaxTree& tree = program.tree();
  const auto is_of_kind = [&](int child, const char* kind) { return tree.node(child).kind_name == kind; };
  return std::any_of(tree.nodes().begin(), tree.nodes().end(), [&](const SyntaxNode& node) {
    const bool record = node.kind_name == "StructDecl" || node.kind_name == "ClassDecl" || node.kind_name == "ClassTemplate";
    if (!record || node.name != name || node.children.empty()) return false;
    const auto& parts = node.children;
    // What it inherits may have fields.
    const bool more = std::any_of(parts.begin(), parts.end(), [&](int child) {
      return is_of_kind(child, "FieldDecl") || is_of_kind(child, "CXXBaseSpecifier") ||
             is_of_kind(child, "C++ base class specifier");
    });
    const bool functions = std::any_of(parts.begin(), parts.end(), [&](int child) {
      return is_of_kind(child, "CXXMethod") || is_of_kind(child, "FunctionTemplate");
    });
    return functions && !more;
  });
}

std::string NewObjectOf(const SourceProgram& program, const std::vector<std::string_view>& tokens) {
  const std::size_t count = tokens.size();
  const bool braces = count > 2 && tokens[count - 2] == "{" && tokens[count - 1] == "}";
  const bool brackets = count > 2 && tokens[count - 2] == "(" && tokens[count - 1] == ")";
  std::string type;
  for (std::size_t i = 0; (braces || brackets) && i + 2 < count; ++i) type += tokens[i];
  return !type.empty() && HasOnlyFunctions(program, type) ? type : "";
}

std::vector<ProgramParameter> FlatFieldsOf(const SourceProgram& program, const std::string& type) {
  std::vector<ProgramParameter> flat;
  for (ProgramParameter& field : FieldsOf(program, type)) {
    const std::string inner = IsPointerType(field.type) ? "" : PointedType(field.type);
    const auto parts = inner.empty() || inner == type ? std::vector<ProgramParameter>{} : FlatFieldsOf(program, inner);
    for (const ProgramParameter& part : parts) flat.push_back({field.name + "." + part.name, part.type, part.node});
    if (parts.empty()) flat.push_back(std::move(field));
  }
  return flat;
}

std::string CanonicalType(const SourceProgram& program, std::string_view name) {
  std::string spelled(name);
  for (int depth = 0; depth < 4; ++depth) {
    if (const ProgramMacro* macro = program.FindMacro(spelled); macro != nullptr && !macro->function_like) spelled = macro->body;
  }
  for (const SyntaxNode& node : program.tree().nodes()) {
    if ((node.kind_name == "TypedefDecl" || node.kind_name == "TypeAliasDecl") && node.name == spelled)
      return WithoutWords(node.type);
  }
  // `using scalar_t = float;` in a macro that chooses between types: the first one.
  for (const ProgramMacro& macro : program.macros()) {
    const auto tokens = SpelledTokens(macro.body);
    for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
      if (tokens[i] != "using" || tokens[i + 1] != spelled || tokens[i + 2] != "=") continue;
      std::string type;
      for (std::size_t at = i + 3; at < tokens.size() && tokens[at] != ";"; ++at)
        type += (type.empty() ? "" : " ") + std::string(tokens[at]);
      return WithoutWords(type);
    }
  }
  return WithoutWords(spelled);
}

std::optional<ElementType> ElementTypeOf(const SourceProgram& program, const std::string& type) {
  static const std::map<std::string, std::string, std::less<>> kScalars = {{"float", "f32"},
                                                                           {"double", "f64"},
                                                                           {"__half", "f16"},
                                                                           {"half", "f16"},
                                                                           {"__nv_bfloat16", "bf16"},
                                                                           {"nv_bfloat16", "bf16"},
                                                                           {"int", "i32"},
                                                                           {"unsigned int", "u32"},
                                                                           {"unsigned", "u32"},
                                                                           {"uint", "u32"},
                                                                           {"long", "i64"},
                                                                           {"long long", "i64"},
                                                                           {"unsigned long", "u64"},
                                                                           {"unsigned long long", "u64"},
                                                                           {"size_t", "u64"},
                                                                           {"short", "i16"},
                                                                           {"unsigned short", "u16"},
                                                                           {"char", "i8"},
                                                                           {"signed char", "i8"},
                                                                           {"unsigned char", "u8"},
                                                                           {"bool", "u8"},
                                                                           {"int64_t", "i64"},
                                                                           {"uint64_t", "u64"},
                                                                           {"int32_t", "i32"},
                                                                           {"uint32_t", "u32"},
                                                                           {"uint8_t", "u8"},
                                                                           {"int8_t", "i8"}};
  static const std::map<std::string, std::string, std::less<>> kVectors = {
      {"float", "f32"}, {"double", "f64"}, {"int", "i32"},    {"uint", "u32"},     {"uchar", "u8"},
      {"char", "i8"},   {"short", "i16"},  {"ushort", "u16"}, {"longlong", "i64"}, {"long", "i64"}};
  if (const auto found = kScalars.find(type); found != kScalars.end()) return ElementType{found->second, 1};
  if (type == "__half2" || type == "half2") return ElementType{"f16", 2};
  if (type == "__nv_bfloat162") return ElementType{"bf16", 2};
  if (!type.empty() && type.back() >= '1' && type.back() <= '4') {
    const auto found = kVectors.find(std::string_view(type).substr(0, type.size() - 1));
    if (found != kVectors.end()) return ElementType{found->second, type.back() - '0'};
  }
  std::optional<ElementType> whole;
  for (const ProgramParameter& field : FieldsOf(program, type)) {
    std::string base = WithoutWords(field.type);
    int repeated = 1;
    for (std::size_t open = base.find('['); open != std::string::npos; open = base.find('[', open + 1))
      repeated *= std::max(1, std::atoi(base.c_str() + open + 1));
    base = WithoutWords(base.substr(0, base.find('[')));
    const auto part = base == type ? std::nullopt : ElementTypeOf(program, base);
    if (!part) return std::nullopt;
    std::string dtype = part->dtype;
    if (whole && whole->dtype != dtype) {
      // Such as a value and its place: what has as many bits.
      const int bytes = ElementType{dtype, 1}.bytes();
      if ((bytes != 4 && bytes != 8) || ElementType{whole->dtype, 1}.bytes() != bytes) return std::nullopt;
      dtype = bytes == 4 ? "i32" : "i64";
    }
    whole = ElementType{dtype, (whole ? whole->count : 0) + repeated * part->count};
  }
  return whole;
}

namespace {

// 0 if they are not known.
std::int64_t BytesNamed(const SourceProgram& program, std::string_view named, int function) {
  const std::string type = CanonicalType(program, named);
  if (const int bytes = SizeOfType(type); bytes > 0) return bytes;
  if (const auto element = ElementTypeOf(program, type)) return element->bytes();
  const std::size_t end_of_name = named.find(' ');
  const ProgramVariable* const variable = program.FindVariable(named.substr(0, end_of_name), function);
  if (variable == nullptr) return 0;
  const std::string& array = variable->type;
  std::size_t at = array.find('[');
  if (at == std::string::npos) return 0;
  std::int64_t bytes = BytesNamed(program, WithoutWords(array.substr(0, at)), function);
  for (auto left_out = std::count(named.begin(), named.end(), '['); at < array.size(); --left_out) {
    const std::size_t end = array.find(']', at);
    if (end == std::string::npos) return 0;
    if (left_out <= 0) bytes *= std::atoll(array.c_str() + at + 1);  // a length that is no number gives 0
    at = end + 1;
  }
  return bytes;
}

}  // namespace

std::optional<HostExpression> SizeNamed(const SourceProgram& program, std::string_view named, int function) {
  const std::int64_t bytes = BytesNamed(program, named, function);
  return bytes > 0 ? std::optional(HostExpression::Integer(bytes)) : std::nullopt;
}

}  // namespace evo
