#include <charconv>
#include <cstdlib>
#include <string>

#include "import/host_expression.h"
#include "import/source_program.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;
using Tokens = std::vector<std::string_view>;

bool IsDigit(std::string_view token) {
  return !token.empty() && (std::isdigit(static_cast<unsigned char>(token[0])) != 0 ||
                            (token[0] == '.' && token.size() > 1 && std::isdigit(static_cast<unsigned char>(token[1])) != 0));
}

bool IsTypeWord(std::string_view word) {
  return SizeOfType(word) > 0 || word == "signed" || word == "void" || word == "const" || word == "ptrdiff_t";
}

// Whether a type, by its words, has whole numbers.
bool IsInteger(const Tokens& tokens, std::size_t first, std::size_t end) {
  bool integer = true;
  for (std::size_t i = first; i < end; ++i) {
    for (const char* word : {"float", "double", "real", "half", "*"})
      integer = integer && tokens[i].find(word) == std::string::npos;
  }
  return integer;
}

// What a cast to whole numbers makes of an expression.
HostExpression Floored(HostExpression expression) {
  if (expression.kind != Kind::kCall || !expression.Is("log2")) return Truncated(std::move(expression));
  return HostExpression::Call("floor_log", std::move(expression.parts));
}

HostExpression ParseNumber(std::string_view token) {
  std::string text;
  for (const char c : token) {
    if (c != '\'') text += c;
  }
  HostExpression result;
  result.kind = Kind::kNumber;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const bool real = !hex && text.find_first_of(".eE") != std::string::npos;
  if (real || (!hex && text.ends_with('f'))) {
    result.number = Number::Real(std::strtod(text.c_str(), nullptr));
  } else {
    result.number = Number::Integer(static_cast<std::int64_t>(std::strtoull(text.c_str(), nullptr, 0)));
  }
  return result;
}

class Parser {
 public:
  explicit Parser(const Tokens& tokens) : tokens_(tokens) {}

  HostExpression Run() {
    HostExpression result = Conditional();
    if (at_ < tokens_.size()) failed_ = true;
    if (!failed_) return result;
    HostExpression unknown;
    for (const std::string_view token : tokens_) unknown.text += (unknown.text.empty() ? "" : " ") + std::string(token);
    return unknown;
  }

 private:
  bool At(std::string_view token) const { return at_ < tokens_.size() && tokens_[at_] == token; }
  bool Take(std::string_view token) {
    if (!At(token)) return false;
    ++at_;
    return true;
  }
  void Expect(std::string_view token) {
    if (!Take(token)) failed_ = true;
  }

  HostExpression Conditional() {
    HostExpression condition = Binary(1);
    if (failed_ || !Take("?")) return condition;
    HostExpression yes = Conditional();
    Expect(":");
    HostExpression no = Conditional();
    return {Kind::kConditional, "?", {}, {std::move(condition), std::move(yes), std::move(no)}};
  }

  int PrecedenceHere() const {
    static const std::map<std::string_view, int> kBinary = {{"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9},  {"<<", 8},
                                                            {">>", 8}, {"<", 7},  {">", 7},  {"<=", 7}, {">=", 7}, {"==", 6},
                                                            {"!=", 6}, {"&", 5},  {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1}};
    if (at_ >= tokens_.size()) return 0;
    const auto found = kBinary.find(tokens_[at_]);
    return found == kBinary.end() ? 0 : found->second;
  }

  HostExpression Binary(int least) {
    HostExpression left = Unary();
    for (int here = PrecedenceHere(); !failed_ && here >= least; here = PrecedenceHere()) {
      std::string op(tokens_[at_++]);
      HostExpression right = Binary(here + 1);
      left = HostExpression::Binary(std::move(op), std::move(left), std::move(right));
    }
    return left;
  }

  HostExpression Unary() {
    if (++depth_ > 200) failed_ = true;
    if (failed_) return {};
    HostExpression result;
    if (At("-") || At("!") || At("~") || At("&") || At("*")) {
      std::string op(tokens_[at_++]);
      result = {Kind::kUnary, std::move(op), {}, {Unary()}};
    } else if (Take("+")) {
      result = Unary();
    } else if (const std::size_t end = CastEnd()) {
      const bool integer = IsInteger(tokens_, at_ + 1, end - 1);
      at_ = end;
      result = integer ? Floored(Unary()) : Unary();
    } else {
      result = Postfix();
    }
    --depth_;
    return result;
  }

  // The token after a cast in parentheses that begins here; 0 if there is none.
  std::size_t CastEnd() const {
    if (!At("(")) return 0;
    std::size_t i = at_ + 1;
    bool type = false;
    bool pointer = false;
    bool word = false;
    for (; i < tokens_.size() && tokens_[i] != ")"; ++i) {
      const std::string_view token = tokens_[i];
      if (IsTypeWord(token)) {
        type = true;
      } else if (token == "*") {
        pointer = true;
      } else if (IsWord(token) && !word) {
        word = true;
      } else if (token != "::" && token != "&") {
        return 0;
      }
    }
    if (i + 1 >= tokens_.size()) return 0;
    const bool named_pointer = word && pointer && tokens_[i - 1] == "*";  // (Params *)p
    // `(ll)x`, where nothing is known of the name: two operands do not follow one another.
    const bool named = word && !pointer && i == at_ + 2 && (IsWord(tokens_[i + 1]) || IsDigit(tokens_[i + 1]));
    const bool operand = IsWord(tokens_[i + 1]) || IsDigit(tokens_[i + 1]) || tokens_[i + 1] == "(" || tokens_[i + 1] == "&" ||
                         tokens_[i + 1] == "-";
    return (type || named_pointer || named) && operand ? i + 1 : 0;
  }

  HostExpression Postfix() {
    HostExpression result = Primary();
    while (!failed_) {
      if (Take(".") || Take("->")) {
        if (at_ >= tokens_.size() || !IsWord(tokens_[at_])) {
          failed_ = true;
          break;
        }
        std::string member(tokens_[at_++]);
        if (At("(")) {  // a call of a member, such as v.data()
          ++at_;
          std::vector<HostExpression> parts = Arguments();
          parts.insert(parts.begin(), std::move(result));
          result = HostExpression::Call("." + member, std::move(parts));
        } else {
          result = {Kind::kMember, std::move(member), {}, {std::move(result)}};
          // Of cudaDeviceProp, on every device that evo knows.
          if (result.Is("maxThreadsPerBlock")) result = HostExpression::Integer(1024);
          if (result.Is("warpSize")) result = HostExpression::Integer(32);
        }
      } else if (Take("[")) {
        HostExpression index = Conditional();
        Expect("]");
        const bool grid = result.kind == Kind::kMember && result.Is("maxGridSize");
        const bool first = index.kind == Kind::kNumber && index.number.integer == 0;
        result = {Kind::kIndex, "", {}, {std::move(result), std::move(index)}};
        if (grid) result = HostExpression::Integer(first ? 2147483647 : 65535);
      } else {
        break;
      }
    }
    return result;
  }

  std::vector<HostExpression> Arguments() {
    std::vector<HostExpression> arguments;
    if (Take(")")) return arguments;
    do {
      arguments.push_back(Conditional());
    } while (!failed_ && Take(","));
    Expect(")");
    return arguments;
  }

  // `<size_t>` of min<size_t>(a, b).
  void SkipType() {
    std::size_t end = at_;
    while (end < tokens_.size() && (tokens_[end] == "<" || tokens_[end] == "::" || IsWord(tokens_[end]))) ++end;
    if (At("<") && end + 1 < tokens_.size() && tokens_[end] == ">" && tokens_[end + 1] == "(") at_ = end + 1;
  }

  HostExpression SizeOf() {
    Expect("(");
    std::string type;
    for (; at_ < tokens_.size() && tokens_[at_] != ")"; ++at_) {
      if (tokens_[at_] == "const" || tokens_[at_] == "std" || tokens_[at_] == "::") continue;
      type += (type.empty() ? "" : " ") + std::string(tokens_[at_]);
    }
    Expect(")");
    if (type.ends_with('*')) return HostExpression::Integer(8);
    // What is not known by name is looked up later, as a name that no program can have.
    const int bytes = SizeOfType(type);
    return bytes > 0 ? HostExpression::Integer(bytes) : HostExpression::Name("sizeof " + type);
  }

  HostExpression Primary() {
    if (at_ >= tokens_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view token = tokens_[at_++];
    if (token == "(") {
      HostExpression inner = Conditional();
      Expect(")");
      return inner;
    }
    if (IsDigit(token)) return ParseNumber(token);
    if (token.starts_with('"')) return {Kind::kUnknown, std::string(token), {}, {}};  // of an option's name
    if (token == "true" || token == "false") return HostExpression::Integer(token == "true" ? 1 : 0);
    if (token == "sizeof") return SizeOf();
    if (!IsWord(token)) {
      failed_ = true;
      return {};
    }
    if (token.ends_with("_cast") && At("<")) {
      const std::size_t first = at_ + 1;
      while (at_ < tokens_.size() && tokens_[at_] != ">") ++at_;
      const bool integer = IsInteger(tokens_, first, at_);
      Expect(">");
      Expect("(");
      HostExpression inner = Conditional();
      Expect(")");
      return integer ? Floored(std::move(inner)) : inner;
    }
    if (token == "this" && Take("->")) return Primary();
    std::string name(token);
    while (At("::")) {  // the last part says enough
      ++at_;
      if (at_ >= tokens_.size()) break;
      name = std::string(tokens_[at_++]);
    }
    if (name == "unsigned" || name == "long") {
      while (at_ < tokens_.size() && IsTypeWord(tokens_[at_])) ++at_;
    }
    if (name == "min" || name == "max") SkipType();
    if (!At("(")) return HostExpression::Name(std::move(name));
    ++at_;
    std::vector<HostExpression> arguments = Arguments();
    if (IsTypeWord(name) && arguments.size() == 1) return IsInteger({name}, 0, 1) ? Floored(arguments[0]) : arguments[0];
    if (name == "raw_pointer_cast" && arguments.size() == 1) return arguments[0];
    if (name == "sqrtf") name = "sqrt";
    const auto whole = [&](std::size_t i) { return arguments[i].kind != Kind::kNumber || !arguments[i].number.is_real; };
    // What is rounded, and how, says what is around it.
    if ((name == "log2" || name == "log2f") && arguments.size() == 1 && whole(0)) {
      const auto& number = arguments[0].number;
      const bool power = arguments[0].kind == Kind::kNumber && number.integer > 0 && (number.integer & (number.integer - 1)) == 0;
      if (power) return HostExpression::Call("ceil_log", {arguments[0], HostExpression::Integer(2)});
      return HostExpression::Call("log2", std::move(arguments));
    }
    if ((name == "exp2" || name == "exp2f") && arguments.size() == 1 && whole(0))
      return HostExpression::Call("power", {HostExpression::Integer(2), arguments[0]});
    if ((name == "pow" || name == "powf") && arguments.size() == 2 && arguments[0].kind == Kind::kNumber && whole(0) && whole(1))
      return HostExpression::Call("power", std::move(arguments));
    const bool of_log = arguments.size() == 1 && arguments[0].kind == Kind::kCall && arguments[0].Is("log2");
    if (of_log && (name == "ceil" || name == "ceilf"))
      return HostExpression::Call("ceil_log", {arguments[0].parts[0], HostExpression::Integer(2)});
    if (of_log && (name == "floor" || name == "floorf")) return Floored(arguments[0]);
    if (of_log && (name == "round" || name == "roundf")) return HostExpression::Call("round_log", arguments[0].parts);
    if ((name == "floor" || name == "round") && arguments.size() == 1 && arguments[0].Is("ceil_log")) return arguments[0];
    return HostExpression::Call(std::move(name), std::move(arguments));
  }

  const Tokens& tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

HostExpression ParseHostExpression(const std::vector<std::string_view>& tokens) {
  Tokens symbols = tokens;
  for (std::string_view& token : symbols) token = token == "and" ? "&&" : token == "or" ? "||" : token == "not" ? "!" : token;
  return Parser(symbols).Run();
}

}  // namespace evo
