#include "import/loop_counts.h"

#include <algorithm>

#include "import/loop_reader.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;
using Names = LoopReader::Names;

constexpr int kMostCalls = 4;  // of functions that call one another

class TermReader {
 public:
  TermReader(const SourceProgram& program, HostCode& host, const TakenLaunch& launch)
      : program_(program), tree_(program.tree()), host_(host), launch_(launch), loops_(program, host, launch) {}

  LoopCounts Run() {
    Names names = launch_.values;
    const auto& parameters = launch_.kernel->template_parameters;
    for (std::size_t t = 0; t < parameters.size() && t < launch_.template_values.size(); ++t)
      names[parameters[t].name] = launch_.template_values[t];
    Read(*launch_.kernel, names, {}, 0);
    LoopCounts counts;
    counts.trips = Combined(trips_);
    counts.adds = adds_ || straight_ > 1;
    if (!unknown_) counts.terms = factors_.empty() ? HostExpression::Integer(straight_) : Combined(factors_);
    return counts;
  }

 private:
  const SyntaxNode& Node(int index) const { return tree_.node(index); }

  // Loops around a call.
  struct Around {
    std::vector<HostExpression> terms;
    std::vector<HostExpression> trips;
  };

  void Read(const ProgramFunction& function, const Names& names, const Around& around, int depth) {
    for (int at = function.node; at < tree_.EndOf(function.node); ++at) {
      const SyntaxNode& node = Node(at);
      if ((node.kind_name == "VarDecl" || tree_.Operator(at) == "=") && IsReal(at)) CountSums(at);
      if (node.kind_name == "ForStmt") ReadTrips(at, function, names, around.trips);
      if (IsSum(at)) {
        adds_ = true;
        ReadSum(at, function, names, around.terms);
      } else if (node.kind_name == "CallExpr" && depth < kMostCalls) {
        ReadCall(at, function, names, around, depth);
      }
    }
  }

  // Whether the type of a variable, or of what is assigned to, is that of a real number.
  bool IsReal(int at) const {
    const std::string& type =
        Node(at).kind_name == "VarDecl" || Node(at).children.empty() ? Node(at).type : Node(Node(at).children[0]).type;
    static const std::vector<std::string> kOthers = {"*", "int", "long", "size_t", "char", "bool", "short", "unsigned"};
    return std::none_of(kOthers.begin(), kOthers.end(), [&](const auto& word) { return type.find(word) != type.npos; });
  }

  // The terms of a statement, outside of subscripts.
  void CountSums(int at) {
    std::int64_t terms = 1;
    int depth = 0;
    for (const std::string_view token : program_.Tokens(Node(at).range)) {
      depth += token == "[" ? 1 : token == "]" ? -1 : 0;
      if (depth == 0 && (token == "+" || token == "-" || token.find("fma") != token.npos)) ++terms;
    }
    straight_ = std::max(straight_, terms);
  }

  // `s += x`, `s = s + x`, `s = fma(a, b, s)` of real numbers.
  bool IsSum(int at) const {
    const SyntaxNode& node = Node(at);
    const std::string_view op = tree_.Operator(at);
    if (node.children.size() != 2 || (op != "+=" && op != "-=" && op != "=")) return false;
    const SyntaxNode& left = Node(node.children[0]);
    if (!IsReal(at)) return false;
    if (op != "=") return true;
    const auto right = program_.Tokens(Node(node.children[1]).range);
    const auto name = program_.Tokens(left.range);
    const bool adds = std::any_of(right.begin(), right.end(), [](auto t) { return t == "+" || t.find("fma") != t.npos; });
    return adds && name.size() == 1 && std::find(right.begin(), right.end(), name[0]) != right.end();
  }

  void ReadTrips(int at, const ProgramFunction& function, const Names& names, std::vector<HostExpression> trips) {
    for (int node = at; node > function.node; node = Node(node).parent) {
      if (Node(node).kind_name != "ForStmt") continue;
      if (const auto loop = loops_.Read(node, function, names)) trips.push_back(loop->trips);
    }
    if (Weight(trips) > Weight(trips_)) trips_ = std::move(trips);
  }

  void ReadSum(int at, const ProgramFunction& function, const Names& names, std::vector<HostExpression> factors) {
    const auto target = program_.Tokens(Node(Node(at).children[0]).range);
    int root = Node(at).children[0];
    while (Node(root).refers_to < 0 && !Node(root).children.empty()) root = Node(root).children[0];
    const int declared = Node(root).refers_to;
    // A variable of the function is a new sum at each call.
    if (declared >= 0 && Node(declared).kind_name == "VarDecl") factors.clear();
    for (int parent = Node(at).parent; parent > function.node; parent = Node(parent).parent) {
      const std::string& kind = Node(parent).kind_name;
      if (kind == "WhileStmt" || kind == "DoStmt") unknown_ = true;
      // Loops around the target's own declaration begin a new sum each time.
      if (kind != "ForStmt" || parent < declared) continue;
      const std::optional<KernelLoop> loop = loops_.Read(parent, function, names);
      if (!loop) {
        unknown_ = true;
        return;
      }
      // A loop that goes over the elements of the target gives each of them one term.
      if (std::find(target.begin(), target.end(), loop->step) == target.end()) factors.push_back(loop->terms);
    }
    if (Weight(factors) > Weight(factors_)) factors_ = std::move(factors);
  }

  // Token lists between the commas of the first bracket `open` at or after token `at`, and the token after its end.
  using Lists = std::vector<std::vector<std::string_view>>;
  static Lists Split(const std::vector<std::string_view>& tokens, std::size_t& at, std::string_view open,
                     std::string_view close) {
    Lists lists(1);
    int depth = 0;
    for (; at < tokens.size(); ++at) {
      if (tokens[at] == open && ++depth == 1) continue;
      if (tokens[at] == close && --depth == 0) break;
      if (tokens[at] == "," && depth == 1) {
        lists.emplace_back();
      } else {
        lists.back().push_back(tokens[at]);
      }
    }
    ++at;
    return lists;
  }

  // A call of a device function of the file: the loops in it are read with what the call passes.
  void ReadCall(int at, const ProgramFunction& caller, const Names& names, Around around, int depth) {
    const auto tokens = program_.Tokens(Node(at).range);
    std::size_t end = 0;
    while (end < tokens.size() && tokens[end] != "(" && tokens[end] != "<") ++end;
    if (end == 0 || end >= tokens.size()) return;
    std::string qualified;
    for (std::size_t i = 0; i < end; ++i) qualified += tokens[i];
    const int exact = program_.FindFunction(qualified);
    const int index = exact >= 0 ? exact : program_.FindFunction(tokens[end - 1]);
    if (index < 0 || !program_.functions()[static_cast<std::size_t>(index)].device) return;
    const ProgramFunction& callee = program_.functions()[static_cast<std::size_t>(index)];
    if (callee.node == caller.node) return;
    for (int parent = Node(at).parent; parent > caller.node; parent = Node(parent).parent) {
      if (Node(parent).kind_name != "ForStmt") continue;
      const auto loop = loops_.Read(parent, caller, names);
      if (!loop) continue;
      around.terms.push_back(loop->terms);
      around.trips.push_back(loop->trips);
    }
    Names inner;
    if (tokens[end] == "<") {
      const Lists passed = Split(tokens, end, "<", ">");
      for (std::size_t t = 0; t < passed.size() && t < callee.template_parameters.size(); ++t)
        inner[callee.template_parameters[t].name] = loops_.Resolved(ParseHostExpression(passed[t]), caller, names);
    }
    const Lists passed = Split(tokens, end, "(", ")");
    for (std::size_t i = 0; i < passed.size() && i < callee.parameters.size(); ++i)
      inner[callee.parameters[i].name] = loops_.Resolved(ParseHostExpression(passed[i]), caller, names);
    Read(callee, inner, around, depth + 1);
  }

  // As many terms as the product has with every unknown name as 2^20.
  double Weight(const std::vector<HostExpression>& factors) const {
    Variables values = host_.Values();
    for (const auto& [label, leaf] : host_.leaves()) values.try_emplace(label, Number::Integer(1 << 20));
    double weight = 1;
    for (const HostExpression& factor : factors) {
      const auto value = ValueOf(factor, values);
      weight *= value ? std::max(1.0, value->AsReal()) : 1;
    }
    return weight;
  }

  // The product, with ceil_div(K, TILE) * TILE as K.
  static HostExpression Combined(std::vector<HostExpression> factors) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (factors[i].kind != Kind::kCall || !factors[i].Is("ceil_div")) continue;
      for (std::size_t j = 0; j < factors.size(); ++j) {
        if (i == j || factors[j].Text() != factors[i].parts[1].Text()) continue;
        factors[i] = HostExpression(factors[i].parts[0]);
        factors[j] = HostExpression::Integer(1);
        break;
      }
    }
    std::reverse(factors.begin(), factors.end());
    return Simplified(Product(factors));
  }

  const SourceProgram& program_;
  const SyntaxTree& tree_;
  HostCode& host_;
  const TakenLaunch& launch_;
  LoopReader loops_;
  std::vector<HostExpression> factors_;
  std::vector<HostExpression> trips_;
  std::int64_t straight_ = 1;
  bool unknown_ = false;
  bool adds_ = false;
};

}  // namespace

LoopCounts LoopCountsOf(const SourceProgram& program, HostCode& host, const TakenLaunch& launch) {
  return TermReader(program, host, launch).Run();
}

}  // namespace evo
