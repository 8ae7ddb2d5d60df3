#include "mutators/analysis/source/data_flow.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Functions of CUDA's headers that have no side effects and do not communicate with other threads.
// clang-format off
// No std::array, whose constructor would fold more arguments than clang takes.
constexpr std::string_view kPure[] = {
    "expf"sv, "__expf"sv, "exp2f"sv, "exp"sv, "exp2"sv, "logf"sv, "__logf"sv, "log2f"sv, "__log2f"sv, "log"sv, "sqrtf"sv,
    "sqrt"sv, "rsqrtf"sv, "rsqrt"sv, "sinf"sv, "__sinf"sv, "cosf"sv, "__cosf"sv, "tanhf"sv, "powf"sv, "__powf"sv, "fmaxf"sv,
    "fminf"sv, "fmax"sv, "fmin"sv, "max"sv, "min"sv, "fabsf"sv, "fabs"sv, "abs"sv, "fmaf"sv, "fma"sv, "erff"sv,
    "__fdividef"sv, "__frcp_rn"sv, "__half2float"sv, "__float2half"sv, "__low2float"sv, "__high2float"sv,
    "__floats2half2_rn"sv, "__float2half_rn"sv, "__bfloat162float"sv, "__float2bfloat16"sv, "__ldg"sv, "__ldcg"sv, "__ldca"sv,
    "__ldcs"sv, "__fmul_rn"sv, "__fadd_rn"sv, "__hmul"sv, "__hadd"sv, "__hfma"sv, "__hfma2"sv, "__hmul2"sv, "__hadd2"sv,
    "__fmaf_rn"sv, "__float2int_rn"sv, "__int2float_rn"sv, "__dp4a"sv, "floorf"sv, "floor"sv, "ceilf"sv, "ceil"sv, "roundf"sv,
    "round"sv, "rintf"sv, "rint"sv, "nearbyintf"sv, "nearbyint"sv, "truncf"sv, "trunc"sv, "fmodf"sv, "fmod"sv, "remainderf"sv,
    "remainder"sv, "tanf"sv, "tan"sv, "asinf"sv, "asin"sv, "acosf"sv, "acos"sv, "atanf"sv, "atan"sv, "atan2f"sv, "atan2"sv,
    "sinhf"sv, "sinh"sv, "coshf"sv, "cosh"sv, "tanh"sv, "asinhf"sv, "asinh"sv, "acoshf"sv, "acosh"sv, "atanhf"sv, "atanh"sv,
    "log1pf"sv, "log1p"sv, "expm1f"sv, "expm1"sv, "log2"sv, "log10f"sv, "log10"sv, "exp10f"sv, "exp10"sv, "cbrtf"sv, "cbrt"sv,
    "rcbrtf"sv, "rcbrt"sv, "hypotf"sv, "hypot"sv, "rhypotf"sv, "rhypot"sv, "pow"sv, "erf"sv, "erfcf"sv, "erfc"sv, "erfinvf"sv,
    "erfinv"sv, "normcdff"sv, "normcdf"sv, "lgammaf"sv, "lgamma"sv, "tgammaf"sv, "tgamma"sv, "copysignf"sv, "copysign"sv,
    "fdimf"sv, "fdim"sv, "ldexpf"sv, "ldexp"sv, "scalbnf"sv, "scalbn"sv, "ilogbf"sv, "ilogb"sv, "logbf"sv, "logb"sv,
    "lroundf"sv, "lround"sv, "lrintf"sv, "lrint"sv, "sin"sv, "cos"sv, "sinpif"sv, "cospif"sv, "sinpi"sv, "cospi"sv, "isnan"sv,
    "isinf"sv, "isfinite"sv, "signbit"sv, "__saturatef"sv, "__tanf"sv, "__log10f"sv, "__exp10f"sv, "__fsub_rn"sv,
    "__fdiv_rn"sv, "__fsqrt_rn"sv, "__frsqrt_rn"sv, "__dadd_rn"sv, "__dmul_rn"sv, "__fma_rn"sv, "umin"sv, "umax"sv, "llabs"sv,
    "labs"sv, "__popc"sv, "__popcll"sv, "__clz"sv, "__clzll"sv, "__ffs"sv, "__ffsll"sv, "__brev"sv, "__byte_perm"sv,
    "__mulhi"sv, "__umulhi"sv, "__mul24"sv, "__umul24"sv, "__funnelshift_l"sv, "__funnelshift_r"sv, "__sad"sv, "__usad"sv,
    "__float2int_rz"sv, "__float2int_rd"sv, "__float2int_ru"sv, "__float2uint_rn"sv, "__float2uint_rz"sv, "__uint2float_rn"sv,
    "__double2float_rn"sv, "__double2int_rn"sv, "__int_as_float"sv, "__float_as_int"sv, "__uint_as_float"sv,
    "__float_as_uint"sv, "__longlong_as_double"sv, "__double_as_longlong"sv, "__half22float2"sv, "__float22half2_rn"sv,
    "__float2half2_rn"sv, "__float2half_rz"sv, "__halves2half2"sv, "__half2half2"sv, "__low2half"sv, "__high2half"sv,
    "__lows2half2"sv, "__highs2half2"sv, "__int2half_rn"sv, "__half2int_rn"sv, "__ushort_as_half"sv, "__half_as_ushort"sv,
    "__float2bfloat16_rn"sv, "__float2bfloat162_rn"sv, "__floats2bfloat162_rn"sv, "__float22bfloat162_rn"sv,
    "__bfloat1622float2"sv, "__bfloat162bfloat162"sv, "__halves2bfloat162"sv, "__low2bfloat16"sv, "__high2bfloat16"sv,
    "__hsub"sv, "__hsub2"sv, "__hdiv"sv, "__h2div"sv, "__hneg"sv, "__hneg2"sv, "__habs"sv, "__habs2"sv, "__hmax"sv,
    "__hmin"sv, "__hmax2"sv, "__hmin2"sv, "__heq"sv, "__hne"sv, "__hlt"sv, "__hle"sv, "__hgt"sv, "__hge"sv, "hexp"sv,
    "hexp2"sv, "hlog"sv, "hlog2"sv, "hsqrt"sv, "hrsqrt"sv, "hrcp"sv, "hsin"sv, "hcos"sv, "hfloor"sv, "hceil"sv, "h2exp"sv,
    "h2exp2"sv, "h2log"sv, "h2sqrt"sv, "h2rsqrt"sv, "h2rcp"sv, "make_char2"sv, "make_char3"sv, "make_char4"sv,
    "make_uchar2"sv, "make_uchar3"sv, "make_uchar4"sv, "make_short2"sv, "make_short3"sv, "make_short4"sv, "make_ushort2"sv,
    "make_ushort3"sv, "make_ushort4"sv, "make_int2"sv, "make_int3"sv, "make_int4"sv, "make_uint2"sv, "make_uint3"sv,
    "make_uint4"sv, "make_longlong2"sv, "make_float2"sv, "make_float3"sv, "make_float4"sv, "make_double2"sv, "make_half2"sv};
constexpr std::array kPureKinds{
    "DeclRefExpr"sv, "IntegerLiteral"sv, "FloatingLiteral"sv, "CXXBoolLiteralExpr"sv, "CharacterLiteral"sv, "ParenExpr"sv,
    "BinaryOperator"sv, "UnaryOperator"sv, "ConditionalOperator"sv, "CStyleCastExpr"sv, "CXXStaticCastExpr"sv,
    "CXXFunctionalCastExpr"sv, "CXXReinterpretCastExpr"sv, "MemberRefExpr"sv, "ArraySubscriptExpr"sv, "CallExpr"sv,
    "TypeRef"sv, "NamespaceRef"sv, "UnexposedExpr"sv, "TemplateRef"sv, "CXXNullPtrLiteralExpr"sv, "GNUNullExpr"sv};
// clang-format on

// Whether a node is a subscript or a dereference. It may only compute an address, but counts as a memory access.
bool IsMemory(const SyntaxTree& tree, int node) {
  return tree.node(node).kind_name == "ArraySubscriptExpr" ||
         (tree.node(node).kind_name == "UnaryOperator" && tree.Operator(node) == "*");
}

// The body of a called function that this file defines before the call; else -1.
int CalledBody(const SyntaxTree& tree, int call) {
  const SyntaxNode& node = tree.node(call);
  if (node.kind_name != "CallExpr" || node.children.empty()) return -1;
  const int function = NamedDeclaration(tree, node.children.front());
  if (function < 0 || tree.node(function).children.empty()) return -1;
  const std::string& kind = tree.node(function).kind_name;
  const int body = tree.node(function).children.back();
  // A function defined after the call may be recursive. It is not followed, so that the search ends.
  const bool before = tree.node(function).range.end <= node.range.begin;
  const bool defined = (kind == "FunctionDecl" || kind == "FunctionTemplate") && tree.node(body).kind_name == "CompoundStmt";
  return defined && before ? body : -1;
}

// Bounds how deep calls from one device function to the next are followed.
constexpr int kFlowDepth = 4;

bool IsPureFunction(const SyntaxTree& tree, int function, int depth);

bool IsPureCall(const SyntaxTree& tree, int call, int depth = kFlowDepth) {
  const std::string_view callee = LibraryCallee(tree, call);
  if (std::find(std::begin(kPure), std::end(kPure), callee) != std::end(kPure)) return true;
  const auto& parts = tree.node(call).children;
  const int function = parts.empty() ? -1 : NamedDeclaration(tree, parts.front());
  return function >= 0 && IsPureFunction(tree, function, depth - 1);
}

// The operand that an assignment, an increment or a decrement changes; -1 for other nodes.
int Target(const SyntaxTree& tree, int node) {
  if (!IsAssignment(tree, node) && !IsCount(tree, node)) return -1;
  return tree.node(node).children.empty() ? -1 : tree.node(node).children.front();
}

bool IsConstant(std::string_view type) {
  if (type.ends_with("&")) return false;
  return type.ends_with("const") || (type.starts_with("const ") && type.find('*') == std::string_view::npos);
}

// The whole lvalue that a name stands in: `v.x`, `(v)` or `c ? v : w` for the name `v`.
int WholeLvalue(const SyntaxTree& tree, int name) {
  int at = name;
  while (!tree.node(at).converted && tree.node(at).parent >= 0) {
    const SyntaxNode& parent = tree.node(tree.node(at).parent);
    const bool part = parent.kind_name == "ParenExpr" || parent.kind_name == "MemberRefExpr" ||
                      (parent.kind_name == "ArraySubscriptExpr" && parent.children.front() == at) ||
                      (parent.kind_name == "ConditionalOperator" && parent.children.front() != at);
    if (!part) break;
    at = tree.node(at).parent;
  }
  return at;
}

bool IsInLambdaOf(const SyntaxTree& tree, int node, int declaration) {
  for (int at = tree.node(node).parent; at >= 0; at = tree.node(at).parent) {
    if (tree.node(at).kind_name == "LambdaExpr") return !IsWithin(tree, declaration, at);
  }
  return false;
}

// Whether a use neither reads nor plainly assigns a variable, so that the variable may later change without being named.
bool IsExposedBy(const SyntaxTree& tree, int name, int declaration) {
  const int whole = WholeLvalue(tree, name);
  if (tree.node(whole).converted) return false;
  const int parent = tree.node(whole).parent;
  if (IsInLambdaOf(tree, name, declaration)) return true;
  if (parent >= 0 && tree.node(parent).kind_name.find("Asm") != std::string::npos) return false;
  return parent < 0 || Target(tree, parent) != whole;
}

bool IsExposed(const SyntaxTree& tree, int declaration) {
  for (const int at : tree.UsesOf(declaration)) {
    const SyntaxNode& use = tree.node(at);
    if (use.opaque && std::find(use.hidden.begin(), use.hidden.end(), declaration) != use.hidden.end()) return true;
    if (use.kind_name == "DeclRefExpr" && use.refers_to == declaration && IsExposedBy(tree, at, declaration)) return true;
  }
  return false;
}

// Whether a function is defined in this file and changes only its own variables.
bool IsPureFunction(const SyntaxTree& tree, int function, int depth) {
  const SyntaxNode& node = tree.node(function);
  if (depth == 0 || (node.kind_name != "FunctionDecl" && node.kind_name != "FunctionTemplate")) return false;
  if (node.children.empty() || tree.node(node.children.back()).kind_name != "CompoundStmt") return false;
  for (const int at : Subtree(tree, function)) {
    const SyntaxNode& part = tree.node(at);
    if (part.opaque || part.kind_name == "LambdaExpr" || part.kind_name == "attribute(shared)") return false;
    if (part.kind_name.find("Asm") != std::string::npos || part.kind_name == "UnexposedStmt") return false;
    if (part.kind_name == "CallExpr" && !IsPureCall(tree, at, depth)) return false;
    if (part.kind_name == "ParmDecl" && part.type.ends_with("&") && !part.type.starts_with("const ")) return false;
    const int target = Target(tree, at);
    if (target < 0) continue;
    const int whole = WithoutMembers(tree, target);
    int owner = whole;  // `a` of `a[i]`, for arrays that the function declares
    while (tree.node(owner).kind_name == "ArraySubscriptExpr") owner = tree.node(owner).children.front();
    const int declaration = NamedDeclaration(tree, owner);
    if (declaration < 0 || IsMemoryName(tree, declaration)) return false;
    if (owner != whole && !tree.node(declaration).type.ends_with("]")) return false;
  }
  return true;
}

}  // namespace

int WithoutMembers(const SyntaxTree& tree, int lvalue) {
  while (tree.node(lvalue).kind_name == "MemberRefExpr" && tree.node(lvalue).children.size() == 1 &&
         !tree.node(tree.node(lvalue).children.front()).type.ends_with("*"))
    lvalue = tree.node(lvalue).children.front();
  return lvalue;
}

bool IsAssignment(const SyntaxTree& tree, int node) {
  const std::string& kind = tree.node(node).kind_name;
  return kind == "CompoundAssignOperator" || (kind == "BinaryOperator" && tree.Operator(node) == "=");
}

bool IsCount(const SyntaxTree& tree, int node) {
  return tree.node(node).kind_name == "UnaryOperator" && (tree.Operator(node) == "++" || tree.Operator(node) == "--");
}

std::set<int> WrittenIn(const SyntaxTree& tree, int node) {
  std::set<int> written;
  for (const int at : Subtree(tree, node)) {
    const SyntaxNode& name = tree.node(at);
    if (name.opaque) written.insert(name.hidden.begin(), name.hidden.end());
    if (name.kind_name != "DeclRefExpr" || name.refers_to < 0 || name.converted) continue;
    if (tree.node(WholeLvalue(tree, at)).converted) continue;
    // A name that is not read is assigned, incremented, has its address taken, or is bound to a reference. A write to a member of
    // a variable counts as a write to the variable.
    written.insert(name.refers_to);
  }
  return written;
}

std::set<int> NamedIn(const SyntaxTree& tree, int node) {
  std::set<int> named;
  for (const int at : Subtree(tree, node)) {
    const SyntaxNode& name = tree.node(at);
    named.insert(name.hidden.begin(), name.hidden.end());
    if (name.kind_name == "DeclRefExpr" && name.refers_to >= 0) named.insert(name.refers_to);
  }
  return named;
}

bool IsMemoryName(const SyntaxTree& tree, int declaration) {
  const SyntaxNode& node = tree.node(declaration);
  if ((node.kind_name != "VarDecl" && node.kind_name != "ParmDecl") || IsConstant(node.type)) return false;
  // A number in constant memory never changes while a kernel runs.
  if (node.function < 0 && !node.type.ends_with("]") && IsConstantMemory(tree, declaration)) return false;
  if (node.function < 0 || node.type.ends_with("&")) return true;
  const auto is_shared = [&](int child) { return tree.node(child).kind_name == "attribute(shared)"; };
  return std::any_of(node.children.begin(), node.children.end(), is_shared) || IsExposed(tree, declaration);
}

bool StoresIn(const SyntaxTree& tree, int node) {
  for (const int at : Subtree(tree, node)) {
    if (tree.node(at).opaque) return true;
    if (int target = Target(tree, at); target >= 0) {
      target = WithoutMembers(tree, target);
      const int declaration = NamedDeclaration(tree, target);
      if (declaration < 0 || IsMemoryName(tree, declaration)) return true;
    }
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "CallExpr" && !IsPureCall(tree, at)) return true;
    if (kind.find("Asm") != std::string::npos || kind == "UnexposedStmt") return true;
  }
  return false;
}

bool LoadsIn(const SyntaxTree& tree, int node) {
  for (const int at : Subtree(tree, node)) {
    if (tree.node(at).opaque || IsMemory(tree, at)) return true;
    if (tree.node(at).kind_name != "CallExpr") continue;
    const std::string_view callee = LibraryCallee(tree, at);
    if (callee.starts_with("__ld")) return true;
    if (!callee.empty()) continue;
    const int body = CalledBody(tree, at);
    if (body < 0 || LoadsIn(tree, body)) return true;  // a function whose body is unknown may read anything
  }
  const std::set<int> named = NamedIn(tree, node);
  return std::any_of(named.begin(), named.end(), [&](int declaration) { return IsMemoryName(tree, declaration); });
}

bool IsPure(const SyntaxTree& tree, int expression) {
  for (const int at : Subtree(tree, expression)) {
    const std::string& kind = tree.node(at).kind_name;
    if (tree.node(at).opaque) return false;
    if (std::find(kPureKinds.begin(), kPureKinds.end(), kind) == kPureKinds.end()) return false;
    if (IsAssignment(tree, at) || IsCount(tree, at)) return false;
    if (kind == "CallExpr" && !IsPureCall(tree, at)) return false;
  }
  return true;
}

bool CallsPure(const SyntaxTree& tree, int call) { return IsPureCall(tree, call); }

bool IsInvariant(const SyntaxTree& tree, int expression, int scope) {
  return IsInvariant(tree, expression, scope, WrittenIn(tree, scope));
}

bool IsInvariant(const SyntaxTree& tree, int expression, int scope, const std::set<int>& written) {
  for (const int declaration : NamedIn(tree, expression)) {
    if (written.contains(declaration) || IsWithin(tree, declaration, scope)) return false;
  }
  return IsPure(tree, expression) && !LoadsIn(tree, expression);
}

}  // namespace evo
