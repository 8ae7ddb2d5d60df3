#include "import/split_allocations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "import/device_text.h"
#include "import/element_type.h"
#include "import/host_code.h"
#include "import/kernel_use.h"
#include "import/pointer_offsets.h"
#include "syntax/splices.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;
using Pointer = HostCode::Pointer;

// What is added to a pointer that has a name: 0 in `p`, n in `p + n` and `&p[n]`; nullopt for other expressions.
std::optional<HostExpression> AddedToName(const HostExpression& passed) {
  if (passed.kind == Kind::kName) return HostExpression::Integer(0);
  const bool address = passed.kind == Kind::kUnary && passed.Is("&");
  const HostExpression& expression = address ? passed.parts[0] : passed;
  const bool adds = address ? expression.kind == Kind::kIndex : expression.kind == Kind::kBinary && expression.Is("+");
  if (!adds || expression.parts[0].kind != Kind::kName) return std::nullopt;
  return expression.parts[1];
}

// An offset counts elements of the type to which the pointer is cast.
bool HasPointerCast(const std::vector<std::string_view>& tokens) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] == "*" && (tokens[i + 1] == ")" || tokens[i + 1] == ">")) return true;
  }
  return false;
}

std::vector<HostExpression> TermsOf(const HostExpression& sum) {
  if (sum.kind != Kind::kBinary || !sum.Is("+")) return {sum};
  std::vector<HostExpression> terms = TermsOf(sum.parts[0]);
  for (HostExpression& term : TermsOf(sum.parts[1])) terms.push_back(std::move(term));
  return terms;
}

// A number of elements less `first`, written without a difference where it can be.
HostExpression Less(const HostExpression& elements, const HostExpression& first) {
  std::vector<HostExpression> factors = Factors(elements);
  const auto two = std::find_if(factors.begin(), factors.end(), [](const auto& one) { return IsNumber(one, 2); });
  if (two != factors.end()) {
    factors.erase(two);
    if (Product(factors).Text() == first.Text()) return first;
  }
  std::vector<HostExpression> terms = TermsOf(elements);
  const auto term = std::find_if(terms.begin(), terms.end(), [&](const auto& one) { return one.Text() == first.Text(); });
  if (term == terms.end() || terms.size() == 1) return HostExpression::Binary("-", elements, first);
  terms.erase(term);
  HostExpression rest = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) rest = HostExpression::Binary("+", rest, terms[i]);
  return rest;
}

// What becomes two allocations.
struct AllocationParts {
  Pointer whole;
  const HostCall* allocation = nullptr;
  std::string type, name;        // of an element, and of what points to the part behind
  HostExpression first, behind;  // elements of the parts
  std::int64_t first_elements = 0, behind_elements = 0;

  std::string Bytes(const HostExpression& elements) const { return fmt::format("({}) * sizeof({})", elements.Text(), type); }
};

std::optional<std::int64_t> IntegerIn(HostCode& host, const HostExpression& expression, int function) {
  const auto value = ValueOf(host.Resolve(expression, function), host.Values());
  return value && !value->is_real ? std::optional(value->integer) : std::nullopt;
}

// Whether a launch passes a part from some constant on, and also the memory from its begin.
bool IsBehindAnother(const SourceProgram& program, const HostCode& host, const HostLaunch& launch, const SourceRange& argument) {
  const auto added = AddedToName(ParseHostExpression(program.Tokens(argument)));
  if (!added || added->Names().empty()) return false;
  const auto names = added->Names();
  const bool constant = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const ProgramVariable* const variable = program.FindVariable(name, launch.function);
    return variable == nullptr ? program.FindMacro(name) != nullptr : variable->function < 0 && variable->record.empty();
  });
  const Pointer origin = host.Origin(argument, launch.function);
  return constant && std::any_of(launch.arguments.begin(), launch.arguments.end(), [&](const SourceRange& other) {
           return ParseHostExpression(program.Tokens(other)).kind == Kind::kName && host.Origin(other, launch.function) == origin;
         });
}

// Whether the kernel adds it.
bool IsAddedByKernel(const SourceProgram& program, HostCode& host, const HostLaunch& launch, const SourceRange& argument) {
  const DeviceText device = DeviceTextOf(program, {launch.name}, {}, {});
  return ConstantOffset(host, program, argument, launch.function, device.words).has_value();
}

// How many elements of so many bytes are allocated, in names of the function that does it.
std::optional<HostExpression> AllocatedElements(const SourceProgram& program, const HostCall& allocation, int bytes_of_element) {
  const auto written_out = [&](const HostExpression& one) {
    const ProgramVariable* const variable =
        one.kind == Kind::kName ? program.FindVariable(one.text, allocation.function) : nullptr;
    const bool own = variable != nullptr && variable->function >= 0 && variable->initialiser.size() > 0;
    return own ? ParseHostExpression(program.Tokens(variable->initialiser)) : one;
  };
  const HostExpression bytes = written_out(ParseHostExpression(program.Tokens(allocation.arguments[1])));
  std::vector<HostExpression> factors = Factors(bytes);
  const auto size =
      std::find_if(factors.rbegin(), factors.rend(), [&](const auto& one) { return IsNumber(one, bytes_of_element); });
  if (size == factors.rend()) return std::nullopt;
  factors.erase(std::next(size).base());
  for (HostExpression& factor : factors) factor = written_out(factor);
  return Product(factors);
}

// The parts of what a launch gets from `first` on; nullopt if they are not known, or if the first one is the smaller one: then
// a kernel more likely goes through both.
std::optional<AllocationParts> SplitPartsOf(const SourceProgram& program, HostCode& host, const HostLaunch& launch,
                                            const SourceRange& argument, const std::string& parameter) {
  AllocationParts parts;
  parts.whole = host.Origin(argument, launch.function);
  const ProgramVariable* const variable = program.FindVariable(parts.whole.name, parts.whole.function);
  const auto allocations = host.CallsOn(parts.whole, "cudaMalloc");
  if (variable == nullptr || !variable->record.empty() || !parts.whole.index.empty() || allocations.size() != 1)
    return std::nullopt;
  parts.allocation = allocations[0];
  parts.type = PointedType(variable->type);
  const int size = SizeOfType(parts.type);
  if (variable->type != parts.type + " *" || size == 0 || parts.allocation->name != "cudaMalloc") return std::nullopt;
  const auto elements = AllocatedElements(program, *parts.allocation, size);
  if (!elements) return std::nullopt;
  parts.first = *AddedToName(ParseHostExpression(program.Tokens(argument)));
  parts.behind = Less(*elements, parts.first);
  const auto first = IntegerIn(host, parts.first, launch.function);
  const HostExpression allocated = host.Resolve(parts.allocation->arguments[1], parts.allocation->function);
  const auto bytes = IntegerIn(host, allocated, parts.allocation->function);
  if (!first || !bytes) return std::nullopt;
  parts.first_elements = *first;
  parts.behind_elements = *bytes / size - *first;
  parts.name = fmt::format("{}_{}", parts.whole.name, parameter);
  while (program.text().find(parts.name) != std::string::npos) parts.name += '_';
  const bool larger = parts.behind_elements > 0 && parts.first_elements >= parts.behind_elements;
  return larger ? std::optional(std::move(parts)) : std::nullopt;
}

// Writes all that the host does with the memory in terms of its parts.
class AllocationSplitter {
 public:
  AllocationSplitter(const SourceProgram& program, HostCode& host, const AllocationParts& parts)
      : program_(program), host_(host), parts_(parts) {}

  std::optional<std::string> Run() {
    if (!ReadCalls() || !ReadLaunches() || IsMentionedElsewhere()) return std::nullopt;
    return Written();
  }

 private:
  enum class Part { kFirst, kBehind, kUnknown };

  HostExpression Parsed(const SourceRange& range) const { return ParseHostExpression(program_.Tokens(range)); }
  bool IsOfWhole(const SourceRange& range, int function) const { return host_.Origin(range, function) == parts_.whole; }
  std::int64_t Elements(Part part) const { return part == Part::kFirst ? parts_.first_elements : parts_.behind_elements; }

  Part PartOf(const SourceRange& argument, int function) {
    const auto added = AddedToName(Parsed(argument));
    if (!added) return Part::kUnknown;
    if (IsNumber(*added, 0)) return Part::kFirst;
    const bool same = host_.Resolve(*added, function).Text() == host_.Resolve(parts_.first, function).Text();
    return same && !HasPointerCast(program_.Tokens(argument)) ? Part::kBehind : Part::kUnknown;
  }

  bool Take(const SourceRange& argument, Part part) {
    understood_.push_back(argument);
    if (part == Part::kBehind) splices_.emplace_back(argument, parts_.name);
    return part != Part::kUnknown;
  }

  bool ReadCalls() {
    for (const HostCall& call : host_.calls()) {
      for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        // What a call gets in a call is read with that.
        if (Parsed(call.arguments[i]).kind == Kind::kCall || !IsOfWhole(call.arguments[i], call.function)) continue;
        if (!ReadCall(call, i)) return false;
      }
    }
    return true;
  }

  bool ReadCall(const HostCall& call, std::size_t index) {
    const SourceRange& argument = call.arguments[index];
    if (&call == parts_.allocation || call.name == "cudaFree") return Take(argument, Part::kFirst);
    const Part part = PartOf(argument, call.function);
    constexpr std::string_view kCopies[] = {"cudaMemcpy", "cudaMemcpyAsync", "cudaMemset", "cudaMemsetAsync"};
    if (std::find(std::begin(kCopies), std::end(kCopies), call.name) == std::end(kCopies))
      return part == Part::kFirst && IsFollowed(call, index) && Take(argument, part);
    if (call.arguments.size() < 3 || index > 1) return false;
    const int size = SizeOfType(parts_.type);
    // A type of a template is that of the elements.
    const HostExpression copied = Replaced(Parsed(call.arguments[2]), [&](const HostExpression& one) {
      const bool unknown = one.kind == Kind::kName && one.text.starts_with("sizeof ");
      return unknown ? std::optional(HostExpression::Integer(size)) : std::nullopt;
    });
    const auto bytes = IntegerIn(host_, copied, call.function);
    if (part == Part::kFirst && bytes == (parts_.first_elements + parts_.behind_elements) * size) return TakeBoth(call, index);
    return bytes && *bytes <= Elements(part) * size && Take(argument, part);
  }

  // A call of the program's own function, if all of them pass this memory there: Origin knows the first.
  bool IsFollowed(const HostCall& call, std::size_t index) const {
    const int callee = program_.FindFunction(call.name);
    if (callee < 0 || program_.functions()[static_cast<std::size_t>(callee)].device) return false;
    return std::all_of(host_.calls().begin(), host_.calls().end(), [&](const HostCall& other) {
      const bool called = other.name == call.name && other.function >= 0 && other.function != callee;  // no declaration of it
      return !called || (other.arguments.size() == call.arguments.size() && IsOfWhole(other.arguments[index], other.function));
    });
  }

  // A call that sets or copies all elements becomes one for each part.
  bool TakeBoth(const HostCall& call, std::size_t index) {
    std::string first, behind;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const std::string text(program_.Text(call.arguments[i]));
      const bool other = call.name.starts_with("cudaMemcpy") && i < 2 && i != index;
      if (other && IsOfWhole(call.arguments[i], call.function)) return false;
      const char* const separator = i == 0 ? "" : ", ";
      first += separator + (i == 2 ? parts_.Bytes(parts_.first) : text);
      const std::string own = i == index ? parts_.name : i == 2 ? parts_.Bytes(parts_.behind) : text;
      behind += separator + (other ? fmt::format("{} + ({})", text, parts_.first.Text()) : own);
    }
    splices_.emplace_back(call.range, fmt::format("({0}({1}), {0}({2}))", call.name, behind, first));
    return Take(call.range, Part::kFirst);
  }

  bool ReadLaunches() {
    for (const HostLaunch& launch : host_.launches()) {
      for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        if (IsOfWhole(launch.arguments[i], launch.function) && !ReadLaunch(launch, i)) return false;
      }
    }
    return true;
  }

  bool ReadLaunch(const HostLaunch& launch, std::size_t index) {
    const Part part = PartOf(launch.arguments[index], launch.function);
    const int kernel = program_.FindFunction(launch.name);
    if (part == Part::kUnknown || kernel < 0) return false;
    const ProgramFunction& function = program_.functions()[static_cast<std::size_t>(kernel)];
    if (launch.arguments.size() > function.parameters.size()) return false;
    const std::set<std::string> bounds = UseOf(program_, function).parameters.at(function.parameters[index].name).bounds;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      if (!bounds.contains(function.parameters[i].name)) continue;
      const auto bound = IntegerIn(host_, Parsed(launch.arguments[i]), launch.function);
      if (bound && *bound > Elements(part)) return false;
    }
    return Take(launch.arguments[index], part);
  }

  // Whether the host does anything else with the memory.
  bool IsMentionedElsewhere() const {
    const auto& tokens = program_.tokens();
    for (std::size_t at = 1; at < tokens.size(); ++at) {
      const int function = program_.FunctionAt(tokens[at].begin);
      if (function < 0 || !IsWord(program_.Token(at)) || program_.Token(at - 1) == "." || program_.Token(at - 1) == "->")
        continue;
      const ProgramFunction& owner = program_.functions()[static_cast<std::size_t>(function)];
      const bool host = !owner.kernel && !owner.device && owner.body.Contains(tokens[at]);
      const auto has_it = [&](const SourceRange& range) { return range.Contains(tokens[at]); };
      if (!host || std::any_of(understood_.begin(), understood_.end(), has_it) || IsDeclaredAt(at)) continue;
      if (IsOfWhole(tokens[at], function)) return true;
    }
    return false;
  }

  bool IsDeclaredAt(std::size_t at) const {
    const SourceRange& token = program_.tokens()[at];
    return std::any_of(program_.variables().begin(), program_.variables().end(), [&](const ProgramVariable& one) {
      const bool here = one.name == program_.Text(token) && program_.tree().node(one.node).range.Contains(token);
      return here && (one.initialiser.size() == 0 || IsNullWord(program_.Text(one.initialiser)));
    });
  }

  std::optional<std::string> Written() {
    const HostCall& allocation = *parts_.allocation;
    splices_.emplace_back(allocation.range, fmt::format("(cudaMalloc((void**)&{}, {}), cudaMalloc({}, {}))", parts_.name,
                                                        parts_.Bytes(parts_.behind), program_.Text(allocation.arguments[0]),
                                                        parts_.Bytes(parts_.first)));
    // A variable of the file, before all that mentions it: other functions than that of the allocation do, too.
    const auto before = [](const auto& one, const auto& other) { return one.first.begin < other.first.begin; };
    std::uint32_t begin = std::min_element(splices_.begin(), splices_.end(), before)->first.begin;
    for (const SyntaxNode& node : program_.tree().nodes()) {
      if (node.parent == 0 && node.range.begin <= begin && begin < node.range.end) begin = node.range.begin;
    }
    splices_.emplace_back(SourceRange{begin, begin}, fmt::format("{}* {}; ", parts_.type, parts_.name));
    return Spliced(program_.tree(), splices_);
  }

  const SourceProgram& program_;
  HostCode& host_;
  const AllocationParts& parts_;
  Splices splices_;
  std::vector<SourceRange> understood_;  // mentions of the memory
};

}  // namespace

std::optional<std::string> WithSplitAllocation(const SourceProgram& program) {
  HostCode host(program);
  for (const HostLaunch& launch : host.launches()) {
    const int kernel = program.FindFunction(launch.name);
    if (kernel < 0 || program.Text(launch.range).find("<<<") == std::string_view::npos) continue;
    const auto& parameters = program.functions()[static_cast<std::size_t>(kernel)].parameters;
    for (std::size_t i = 0; i < std::min(launch.arguments.size(), parameters.size()); ++i) {
      const SourceRange& argument = launch.arguments[i];
      if (!IsBehindAnother(program, host, launch, argument) || IsAddedByKernel(program, host, launch, argument)) continue;
      const auto parts = SplitPartsOf(program, host, launch, argument, parameters[i].name);
      auto written = parts ? AllocationSplitter(program, host, *parts).Run() : std::nullopt;
      if (written) return written;
    }
  }
  return std::nullopt;
}

}  // namespace evo
