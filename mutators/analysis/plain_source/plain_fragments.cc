#include "mutators/analysis/plain_source/plain_fragments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

namespace evo {
namespace {

constexpr std::string_view kLanesOfFragment = "32";
constexpr std::string_view kThreadOfFragment = "((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32)";

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// Of "a, f(b, c)": "a" and "f(b, c)".
std::vector<std::string> ArgumentsIn(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size()) depth += std::string_view("([{").find(list[i]) != std::string_view::npos;
    if (i < list.size()) depth -= std::string_view(")]}").find(list[i]) != std::string_view::npos;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    parts.emplace_back(Trimmed(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

// Where the bracket closes that is open at a place; npos if it does not.
std::size_t CloseOf(std::string_view text, std::size_t open, char opens, char closes) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == opens ? 1 : text[i] == closes ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

struct Fragment {
  char kind = 'c';  // of the factors a and b, or the sum
  std::string rows, columns, depth, type;
  bool by_columns = false;

  std::string Count() const { return fmt::format("(({}) * ({}) / {})", rows, columns, kLanesOfFragment); }
  // So many elements a lane has.
  std::string Own() const {
    return kind == 'a' ? fmt::format("({})", depth) : kind == 'b' ? fmt::format("(({}) * {})", depth, Count()) : Count();
  }
  // The row and the first column of a lane's sums.
  std::string Row() const { return fmt::format("({} * {} / ({}))", kThreadOfFragment, Count(), columns); }
  std::string Column() const { return fmt::format("({} * {} % ({}))", kThreadOfFragment, Count(), columns); }
  std::string Held() const {
    if (type == "double") return "double";
    return IsOfBytes() || type == "int" ? "int" : "float";
  }
  bool IsOfBytes() const { return type.find("char") != std::string::npos || type.find("int8") != std::string::npos; }
  std::string Loaded(const std::string& element) const {
    if (type == "half" || type == "__half") return fmt::format("__half2float({})", element);
    return type == "__nv_bfloat16" ? fmt::format("__bfloat162float({})", element) : element;
  }
  std::string Stored(const std::string& element) const {
    return type == "half" || type == "__half" ? fmt::format("__float2half({})", element) : element;
  }
};

class FragmentReader {
 public:
  explicit FragmentReader(std::string_view source) : text_(source) {}

  std::optional<std::string> Text() {
    for (std::size_t at = 0; (at = FindWord("fragment", at)) != std::string::npos;) {
      if (!Declare(at)) return std::nullopt;
    }
    if (fragments_.empty()) return std::nullopt;
    using Write = std::optional<std::string> (FragmentReader::*)(const std::vector<std::string>&) const;
    constexpr std::pair<std::string_view, Write> kFunctions[] = {{"fill_fragment", &FragmentReader::Fill},
                                                                 {"load_matrix_sync", &FragmentReader::Load},
                                                                 {"mma_sync", &FragmentReader::Multiply},
                                                                 {"store_matrix_sync", &FragmentReader::Store}};
    for (const auto& [function, write] : kFunctions) {
      for (std::size_t at = 0; (at = FindWord(function, at)) != std::string::npos;) {
        const std::size_t open = text_.find_first_not_of(' ', at + function.size());
        const std::size_t close = open < text_.size() && text_[open] == '(' ? CloseOf(text_, open, '(', ')') : std::string::npos;
        if (close == std::string::npos) return std::nullopt;
        const auto written = (this->*write)(ArgumentsIn(std::string_view(text_).substr(open + 1, close - open - 1)));
        if (!written) return std::nullopt;
        const std::size_t begin = BeforeNamespaces(at);
        const std::size_t end = text_.substr(close + 1, 1) == ";" ? close + 2 : close + 1;
        text_.replace(begin, end - begin, "{ " + *written + " }");
        at = begin + written->size();
      }
    }
    if (!WriteElements()) return std::nullopt;
    return text_.find("wmma::") == std::string::npos ? std::optional(text_) : std::nullopt;
  }

 private:
  std::size_t FindWord(std::string_view word, std::size_t from) const {
    for (std::size_t at = from; (at = text_.find(word, at)) != std::string::npos; at += word.size()) {
      const bool begins = at == 0 || !IsWordPart(text_[at - 1]);
      if (begins && (at + word.size() >= text_.size() || !IsWordPart(text_[at + word.size()]))) return at;
    }
    return std::string::npos;
  }

  // Of `nvcuda::wmma::fragment`, where it begins.
  std::size_t BeforeNamespaces(std::size_t at) const {
    for (const std::string_view name : {"wmma::", "nvcuda::"}) {
      if (at >= name.size() && text_.compare(at - name.size(), name.size(), name) == 0) at -= name.size();
    }
    return at;
  }

  static std::string WithoutNamespaces(std::string name) {
    const std::size_t colon = name.rfind(':');
    return colon == std::string::npos ? name : name.substr(colon + 1);
  }

  // `wmma::fragment<..> a, b[2];`
  bool Declare(std::size_t& at) {
    const std::size_t open = text_.find_first_not_of(' ', at + std::string_view("fragment").size());
    if (open >= text_.size() || text_[open] != '<') return at = at + 1, true;  // another thing of this name
    const std::size_t close = CloseOf(text_, open, '<', '>'), end = text_.find(';', close);
    if (close == std::string::npos || end == std::string::npos) return false;
    std::vector<std::string> arguments = ArgumentsIn(std::string_view(text_).substr(open + 1, close - open - 1));
    if (arguments.size() < 5) return false;
    const std::string use = WithoutNamespaces(arguments[0]);
    Fragment fragment{use == "matrix_a"   ? 'a'
                      : use == "matrix_b" ? 'b'
                                          : 'c',
                      arguments[1], arguments[2], arguments[3], WithoutNamespaces(arguments[4])};
    fragment.by_columns = arguments.size() > 5 && WithoutNamespaces(arguments[5]) == "col_major";
    if (fragment.kind == 'c' && use != "accumulator") return false;
    if (fragment.kind != 'c' && arguments.size() < 6) return false;
    std::string declared;
    for (const std::string& name : ArgumentsIn(std::string_view(text_).substr(close + 1, end - close - 1))) {
      const std::size_t extent = name.find('[');
      const std::string bare(Trimmed(std::string_view(name).substr(0, extent)));
      if (bare.empty() || !std::all_of(bare.begin(), bare.end(), IsWordPart)) return false;
      fragments_[bare] = fragment;
      declared += fmt::format("{} {}[{}];", fragment.Held(), name, fragment.Own());
    }
    const std::size_t begin = BeforeNamespaces(at);
    text_.replace(begin, end + 1 - begin, declared);
    at = begin + declared.size();
    return true;
  }

  const Fragment* Named(const std::string& expression) const {
    const auto known = fragments_.find(std::string(Trimmed(std::string_view(expression).substr(0, expression.find('[')))));
    return known == fragments_.end() ? nullptr : &known->second;
  }

  std::optional<std::string> Fill(const std::vector<std::string>& arguments) const {
    const Fragment* const filled = arguments.size() == 2 ? Named(arguments[0]) : nullptr;
    if (filled == nullptr) return std::nullopt;
    return fmt::format("for (int of_lane = 0; of_lane < {}; ++of_lane) {}[of_lane] = {};", filled->Own(), arguments[0],
                       arguments[1]);
  }

  static std::string Element(const std::string& pointer, const std::string& row, const std::string& column,
                             const std::string& distance, bool by_columns) {
    return fmt::format("({})[({}) * ({}) + ({})]", pointer, by_columns ? column : row, distance, by_columns ? row : column);
  }

  std::optional<std::string> Load(const std::vector<std::string>& arguments) const {
    const Fragment* const to = arguments.size() >= 3 ? Named(arguments[0]) : nullptr;
    if (to == nullptr || (to->kind == 'c') != (arguments.size() == 4)) return std::nullopt;
    const bool by_columns = to->kind == 'c' ? WithoutNamespaces(arguments[3]) == "mem_col_major" : to->by_columns;
    const std::string own = to->Count();
    const std::string row = to->kind == 'b' ? fmt::format("of_lane / {}", own) : to->Row();
    const std::string column = to->kind == 'a' ? "of_lane" : fmt::format("{} + of_lane % {}", to->Column(), own);
    return fmt::format("for (int of_lane = 0; of_lane < {}; ++of_lane) {}[of_lane] = {};", to->Own(), arguments[0],
                       to->Loaded(Element(arguments[1], row, column, arguments[2], by_columns)));
  }

  std::optional<std::string> Multiply(const std::vector<std::string>& arguments) const {
    if (arguments.size() < 4) return std::nullopt;
    const Fragment *const to = Named(arguments[0]), *const a = Named(arguments[1]), *const b = Named(arguments[2]);
    if (to == nullptr || a == nullptr || b == nullptr || a->kind != 'a' || b->kind != 'b' || to->kind != 'c') return std::nullopt;
    if (Named(arguments[3]) == nullptr || Named(arguments[3])->kind != 'c') return std::nullopt;
    return fmt::format(
        "for (int of_lane = 0; of_lane < {0}; ++of_lane) {{ {1} of_products = {2}[of_lane]; for (int term = 0; term < ({3}); "
        "++term) "
        "of_products += {4}[term] * {5}[term * {0} + of_lane]; {6}[of_lane] = of_products; }}",
        to->Count(), to->Held(), arguments[3], to->depth, arguments[1], arguments[2], arguments[0]);
  }

  std::optional<std::string> Store(const std::vector<std::string>& arguments) const {
    const Fragment* const from = arguments.size() == 4 ? Named(arguments[1]) : nullptr;
    if (from == nullptr || from->kind != 'c') return std::nullopt;
    const bool by_columns = WithoutNamespaces(arguments[3]) == "mem_col_major";
    return fmt::format("for (int of_lane = 0; of_lane < {}; ++of_lane) {} = {}; __syncwarp();", from->Own(),
                       Element(arguments[0], from->Row(), fmt::format("{} + of_lane", from->Column()), arguments[2], by_columns),
                       from->Stored(arguments[1] + "[of_lane]"));
  }

  // `c.x[i]` and `c.num_elements`. False if a fragment is used otherwise.
  bool WriteElements() {
    for (const auto& [name, fragment] : fragments_) {
      for (std::size_t at = 0; (at = FindWord(name, at)) != std::string::npos;) {
        std::size_t end = at + name.size();
        while (end < text_.size() && text_[end] == '[') {
          const std::size_t close = CloseOf(text_, end, '[', ']');
          if (close == std::string::npos) return false;
          end = close + 1;
        }
        if (text_.compare(end, 3, ".x[") == 0) {
          text_.erase(end, 2);
        } else if (text_.compare(end, 13, ".num_elements") == 0) {
          const std::string count = fragment.Own();
          text_.replace(at, end + 13 - at, count);
          at += count.size();
          continue;
        }
        at = end;
      }
    }
    for (std::size_t at = 0; (at = FindWord("__float_to_tf32", at)) != std::string::npos;) {
      const std::size_t begin = BeforeNamespaces(at);
      text_.replace(begin, at + 15 - begin, "");
      at = begin;
    }
    return true;
  }

  std::string text_;
  std::map<std::string, Fragment> fragments_;
};

}  // namespace

std::optional<std::string> WithoutFragments(std::string_view source) {
  if (source.find("fragment") == std::string_view::npos || source.find("mma_sync") == std::string_view::npos) return std::nullopt;
  return FragmentReader(source).Text();
}

}  // namespace evo
