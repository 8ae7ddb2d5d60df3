// How a ThreadRun loads, stores and calls.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_run.h"

namespace evo {
namespace {

using namespace std::string_view_literals;
using enum ThreadValue::Kind;

// How deep functions of the source call each other.
constexpr int kMostCalls = 6;

struct Known {
  std::string_view name;
  double (*compute)(double);
};

double Same(double x) { return x; }
double Exponential(double x) { return std::exp(x); }
double PowerOfTwo(double x) { return std::exp2(x); }
double Root(double x) { return std::sqrt(x); }
double InverseRoot(double x) { return 1 / std::sqrt(x); }
double Logarithm(double x) { return std::log(x); }
double BinaryLogarithm(double x) { return std::log2(x); }
double Inverse(double x) { return 1 / x; }

// Functions of one number. Those that convert round to the nearest.
constexpr std::array kFunctions{Known{"__half2float", Same},
                                Known{"__bfloat162float", Same},
                                Known{"__float2half", Same},
                                Known{"__float2half_rn", Same},
                                Known{"__float2bfloat16", Same},
                                Known{"__float2bfloat16_rn", Same},
                                Known{"__int2float_rn", Same},
                                Known{"expf", Exponential},
                                Known{"exp", Exponential},
                                Known{"__expf", Exponential},
                                Known{"exp2f", PowerOfTwo},
                                Known{"exp2", PowerOfTwo},
                                Known{"sqrtf", Root},
                                Known{"sqrt", Root},
                                Known{"__fsqrt_rn", Root},
                                Known{"rsqrtf", InverseRoot},
                                Known{"rsqrt", InverseRoot},
                                Known{"logf", Logarithm},
                                Known{"log", Logarithm},
                                Known{"log2f", BinaryLogarithm},
                                Known{"__frcp_rn", Inverse}};

bool IsReal(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return plain == "float" || plain == "double" || plain == "__half" || plain == "__nv_bfloat16";
}

bool IsLoad(std::string_view callee) {
  return callee == "__ldg" || callee == "__ldcg" || callee == "__ldca" || callee == "__ldcs";
}

}  // namespace

double ThreadRun::ElementOf(int buffer, std::int64_t index) {
  std::uint64_t bits =
      static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(buffer) * 0xd1b54a32d192ed03u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) / 4503599627370496.0 - 1.0;  // -1 to 1
}

ThreadRun::Place ThreadRun::PlaceOf(int expression) {
  expression = WithoutParentheses(tree_, expression);
  const SyntaxNode& node = tree_.node(expression);
  Place place;
  ThreadValue pointer;
  if (const int variable = NamedDeclaration(tree_, expression); variable >= 0 && tree_.node(variable).function >= 0) {
    place.variable = variable;
    return place;
  }
  if (kinds_[static_cast<std::size_t>(expression)] == Kind::kSubscript && node.children.size() == 2)
    pointer = Combined("+", Evaluate(node.children[0]), Evaluate(node.children[1]));
  else if (operators_[static_cast<std::size_t>(expression)] == "*" && node.children.size() == 1)
    pointer = Evaluate(node.children[0]);
  if (pointer.kind != kPointer) {
    Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
    return place;
  }
  place.memory = pointer.memory;
  place.index = pointer.integer;
  place.form = pointer.form;
  return place;
}

void ThreadRun::Touch(const Place& place, int node, bool store) {
  ThreadTrace::Touch touch{node, place.memory, place.index, store, {}};
  for (const int counter : setting_.counters) touch.counters.push_back(variables_[static_cast<std::size_t>(counter)].integer);
  trace_.touches.push_back(std::move(touch));
}

// Whether an element is one of an array of real numbers that the run does not follow: at file scope, or of more dimensions.
bool ThreadRun::IsTable(int expression) const {
  if (!IsReal(tree_.node(expression).type)) return false;
  while (tree_.node(expression).kind_name == "ArraySubscriptExpr")
    expression = WithoutParentheses(tree_, tree_.node(expression).children.front());
  const int array = NamedDeclaration(tree_, expression);
  return array >= 0 && tree_.node(array).kind_name == "VarDecl" && tree_.node(array).type.ends_with("]") &&
         !arrays_.contains(array);
}

ThreadValue ThreadRun::Load(const Place& place, int node) {
  if (Failed()) return {};
  if (place.variable >= 0) return variables_[static_cast<std::size_t>(place.variable)];
  if (const auto array = arrays_.find(place.memory); array != arrays_.end()) {
    const auto& elements = array->second;
    const std::string& name = tree_.node(place.memory).name;
    if (place.index < 0 || place.index >= static_cast<std::int64_t>(elements.size()))
      return Refuse(fmt::format("element {} of the array {}", place.index, name));
    const ThreadValue& value = elements[static_cast<std::size_t>(place.index)];
    if (value.kind == kNone) return Refuse(fmt::format("an element of {} is read and has no value", name));
    return value;
  }
  if (tree_.node(place.memory).kind_name != "ParmDecl") return Refuse("a pointer that is not understood");
  if (setting_.addresses) {
    Touch(place, node, false);
    const double element = ElementOf(place.memory, place.index);
    const std::string& type = tree_.node(place.memory).type;
    for (const char* real : {"float", "double", "half", "bfloat16"}) {
      if (type.find(real) != std::string::npos) return Real(element);
    }
    return Integer(static_cast<std::int64_t>(4 * element));
  }
  const auto stored = trace_.stores.find(place.memory);
  if (stored != trace_.stores.end()) {
    const auto element = stored->second.find(place.index);
    if (element != stored->second.end()) return Real(element->second.value);
    return Refuse(fmt::format("it reads of {} what other threads may have stored", tree_.node(place.memory).name));
  }
  auto& read = trace_.reads[place.memory];
  const auto [known, fresh] = read.try_emplace(place.index);
  if (fresh) {
    known->second.value = ElementOf(place.memory, place.index);
    if (setting_.symbolic) known->second.index = place.form ? *place.form : AffineForm::Constant(place.index);
  }
  ThreadValue value = Real(known->second.value);
  value.element = true;
  return value;
}

void ThreadRun::Store(const Place& place, ThreadValue value, int node) {
  if (Failed()) return;
  if (place.variable >= 0) {
    variables_[static_cast<std::size_t>(place.variable)] = std::move(value);
    return;
  }
  if (const auto array = arrays_.find(place.memory); array != arrays_.end()) {
    if (place.index < 0 || place.index >= static_cast<std::int64_t>(array->second.size())) {
      Refuse(fmt::format("element {} of the array {}", place.index, tree_.node(place.memory).name));
      return;
    }
    array->second[static_cast<std::size_t>(place.index)] = std::move(value);
    return;
  }
  if (setting_.addresses && tree_.node(place.memory).kind_name == "ParmDecl") return Touch(place, node, true);
  if (value.kind != kReal || tree_.node(place.memory).kind_name != "ParmDecl" || trace_.reads.contains(place.memory)) {
    Refuse(fmt::format("it stores to {} what is not understood", tree_.node(place.memory).name));
    return;
  }
  auto& element = trace_.stores[place.memory][place.index];
  element.value = value.real;
  if (setting_.symbolic) element.index = place.form ? *place.form : AffineForm::Constant(place.index);
}

ThreadValue ThreadRun::Call(int expression) {
  const auto& parts = tree_.node(expression).children;
  if (parts.empty()) return Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
  if (tree_.node(expression).name == "operator=") return Assign(expression);
  const int function = NamedDeclaration(tree_, parts.front());
  const std::vector<int> arguments(parts.begin() + 1, parts.end());
  const std::string& kind = function >= 0 ? tree_.node(function).kind_name : tree_.node(expression).kind_name;
  if (kind == "FunctionDecl" || kind == "FunctionTemplate") return CallDefined(function, arguments);
  const std::string_view callee = LibraryCallee(tree_, expression);
  if (!callee.empty() && !callee.starts_with("operator") && !arguments.empty()) {
    const ThreadValue value = CallKnown(callee, arguments, expression);
    if (value.kind == kNone && !Failed() && setting_.addresses && IsReal(tree_.node(expression).type)) return Real(kSomeNumber);
    if (value.kind != kNone || Failed()) return value;
    return Refuse(fmt::format("it calls {}, which is not known", callee));
  }
  // A constructor or a conversion of one value.
  if (parts.size() == 1) return Converted(Evaluate(parts.front()), tree_.node(expression).type);
  return Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
}

ThreadValue ThreadRun::CallDefined(int function, const std::vector<int>& arguments) {
  const SyntaxNode& called = tree_.node(function);
  const bool defined = !called.children.empty() && tree_.node(called.children.back()).kind_name == "CompoundStmt";
  if (!defined || depth_ >= kMostCalls) return Refuse(fmt::format("the function {}", called.name));
  std::vector<int> parameters;
  for (const int child : called.children) {
    if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
  }
  if (parameters.size() != arguments.size()) return Refuse(fmt::format("the arguments of {}", called.name));
  std::vector<ThreadValue> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& type = tree_.node(parameters[i]).type;
    if (type.ends_with("&") && !type.starts_with("const ")) return Refuse(fmt::format("{} takes references", called.name));
    values.push_back(Converted(Evaluate(arguments[i]), type));
  }
  if (Failed()) return {};
  for (std::size_t i = 0; i < values.size(); ++i) variables_[static_cast<std::size_t>(parameters[i])] = std::move(values[i]);
  ++depth_;
  returned_ = {};
  Execute(called.children.back());
  --depth_;
  return Failed() ? ThreadValue{} : Converted(std::exchange(returned_, {}), called.type.substr(0, called.type.find(" (")));
}

ThreadValue ThreadRun::Extreme(bool largest, const ThreadValue& a, const ThreadValue& b) {
  if (a.kind == kInteger && b.kind == kInteger) {
    NoteCompared(a), NoteCompared(b);
    const std::int64_t value = largest ? std::max(a.integer, b.integer) : std::min(a.integer, b.integer);
    if (!a.form && !b.form) return Integer(value);
    return Integer(value,
                   NewOpaque(fmt::format("{}({}, {})", largest ? "max" : "min", TextOf(*FormOf(a)), TextOf(*FormOf(b))), a, b));
  }
  const ThreadValue x = Converted(a, "float"), y = Converted(b, "float");
  NoteLimit(x, y);
  if (!largest) trace_.limits.emplace_back(x.real, 1.0);  // which nothing of an attention is
  return Real(largest ? std::fmax(x.real, y.real) : std::fmin(x.real, y.real));
}

ThreadValue ThreadRun::CallKnown(std::string_view callee, const std::vector<int>& arguments, int call) {
  if (IsLoad(callee) && arguments.size() == 1) {
    const ThreadValue pointer = Evaluate(arguments.front());
    if (pointer.kind != kPointer) return {};
    Place place;
    place.memory = pointer.memory;
    place.index = pointer.integer;
    place.form = pointer.form;
    return Load(place, call);
  }
  std::vector<ThreadValue> values;
  for (const int argument : arguments) values.push_back(Evaluate(argument));
  if (Failed()) return {};
  for (const ThreadValue& value : values) {
    if (value.kind != kInteger && value.kind != kReal) return {};
  }
  if (values.size() == 2 && (callee == "fmaxf" || callee == "fmax" || callee == "max"))
    return Extreme(true, values[0], values[1]);
  if (values.size() == 2 && (callee == "fminf" || callee == "fmin" || callee == "min"))
    return Extreme(false, values[0], values[1]);
  if (values.size() == 2 && callee == "__fdividef")
    return CombinedReals("/", Converted(values[0], "float"), Converted(values[1], "float"));
  if (values.size() == 2 && callee == "__fmul_rn")
    return CombinedReals("*", Converted(values[0], "float"), Converted(values[1], "float"));
  if (values.size() == 2 && callee == "__fadd_rn")
    return CombinedReals("+", Converted(values[0], "float"), Converted(values[1], "float"));
  if (values.size() == 3 && (callee == "fmaf" || callee == "fma" || callee == "__fmaf_rn")) {
    const ThreadValue product = CombinedReals("*", Converted(values[0], "float"), Converted(values[1], "float"));
    return CombinedReals("+", product, Converted(values[2], "float"));
  }
  if (values.size() != 1) return {};
  if (callee == "abs" && values.front().kind == kInteger) {
    const ThreadValue& of = values.front();
    return Integer(std::abs(of.integer), of.form ? NewOpaque(fmt::format("abs({})", TextOf(*of.form)), of, of) : nullptr);
  }
  const auto* const known =
      std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Known& one) { return one.name == callee; });
  if (known == kFunctions.end()) return {};
  trace_.base_two |= known->compute == PowerOfTwo;
  trace_.exponential |= known->compute == PowerOfTwo || known->compute == Exponential;
  const ThreadValue of = Converted(values.front(), "float");
  trace_.rounded |= callee.starts_with("__float2") && !of.text;
  return Real(known->compute(of.real),
              of.text ? std::make_shared<const std::string>(fmt::format("{}({})", callee, *of.text)) : nullptr);
}

}  // namespace evo
