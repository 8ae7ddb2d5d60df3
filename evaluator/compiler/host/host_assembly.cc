#include "evaluator/compiler/host/host_assembly.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace evo {
namespace {

struct Instruction {
  std::string_view name;
  std::string_view function;
};

constexpr auto kInstructions = std::to_array<Instruction>({
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16", "evo_cpu::LoadMatrices<false>"},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16", "evo_cpu::LoadMatrices<false>"},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "evo_cpu::LoadMatrices<false>"},
    {"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", "evo_cpu::LoadMatrices<true>"},
    {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", "evo_cpu::LoadMatrices<true>"},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "evo_cpu::LoadMatrices<true>"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "evo_cpu::MultiplyMatrices<__half>"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "evo_cpu::MultiplyMatrices<__nv_bfloat16>"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "evo_cpu::MultiplyTf32"},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "evo_cpu::MultiplyBytes<signed char>"},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", "evo_cpu::MultiplyBytes<unsigned char>"},
    {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", "evo_cpu::MultiplyGroup<__half, 64>"},
    {"wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16", "evo_cpu::MultiplyGroup<__nv_bfloat16, 64>"},
    {"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "evo_cpu::MultiplyGroup<__half, 128>"},
    {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", "evo_cpu::MultiplyGroup<__nv_bfloat16, 128>"},
    {"wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16", "evo_cpu::MultiplyGroup<__half, 192>"},
    {"wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16", "evo_cpu::MultiplyGroup<__nv_bfloat16, 192>"},
    {"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", "evo_cpu::MultiplyGroup<__half, 256>"},
    {"wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16", "evo_cpu::MultiplyGroup<__nv_bfloat16, 256>"},
    {"wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8", "evo_cpu::MultiplyByteGroup<signed char, signed char, 64>"},
    {"wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.u8", "evo_cpu::MultiplyByteGroup<signed char, unsigned char, 64>"},
    {"wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8", "evo_cpu::MultiplyByteGroup<unsigned char, signed char, 64>"},
    {"wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8", "evo_cpu::MultiplyByteGroup<unsigned char, unsigned char, 64>"},
    {"wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8", "evo_cpu::MultiplyByteGroup<signed char, signed char, 128>"},
    {"wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.u8", "evo_cpu::MultiplyByteGroup<signed char, unsigned char, 128>"},
    {"wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.s8", "evo_cpu::MultiplyByteGroup<unsigned char, signed char, 128>"},
    {"wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8", "evo_cpu::MultiplyByteGroup<unsigned char, unsigned char, 128>"},
    {"wgmma.mma_async.sync.aligned.m64n192k32.s32.s8.s8", "evo_cpu::MultiplyByteGroup<signed char, signed char, 192>"},
    {"wgmma.mma_async.sync.aligned.m64n192k32.s32.s8.u8", "evo_cpu::MultiplyByteGroup<signed char, unsigned char, 192>"},
    {"wgmma.mma_async.sync.aligned.m64n192k32.s32.u8.s8", "evo_cpu::MultiplyByteGroup<unsigned char, signed char, 192>"},
    {"wgmma.mma_async.sync.aligned.m64n192k32.s32.u8.u8", "evo_cpu::MultiplyByteGroup<unsigned char, unsigned char, 192>"},
    {"wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8", "evo_cpu::MultiplyByteGroup<signed char, signed char, 256>"},
    {"wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.u8", "evo_cpu::MultiplyByteGroup<signed char, unsigned char, 256>"},
    {"wgmma.mma_async.sync.aligned.m64n256k32.s32.u8.s8", "evo_cpu::MultiplyByteGroup<unsigned char, signed char, 256>"},
    {"wgmma.mma_async.sync.aligned.m64n256k32.s32.u8.u8", "evo_cpu::MultiplyByteGroup<unsigned char, unsigned char, 256>"},
    {"wgmma.fence.sync.aligned", "evo_cpu::NothingToWaitFor"},
    {"wgmma.commit_group.sync.aligned", "evo_cpu::NothingToWaitFor"},
    {"wgmma.wait_group.sync.aligned", "evo_cpu::NothingToWaitFor"},
    {"cp.async.cg.shared.global", "evo_cpu::CopyToShared"},
    {"fence.proxy.async", "evo_cpu::NothingToWaitFor"},
    {"fence.proxy.async.shared::cta", "evo_cpu::NothingToWaitFor"},
    {"fence.mbarrier_init.release.cluster", "evo_cpu::NothingToWaitFor"},
    {"setmaxnreg.inc.sync.aligned.u32", "evo_cpu::NothingToWaitFor"},
    {"setmaxnreg.dec.sync.aligned.u32", "evo_cpu::NothingToWaitFor"},
    {"stmatrix.sync.aligned.m8n8.x4.shared.b16", "evo_cpu::StoreMatrices"},
    {"mbarrier.init.shared::cta.b64", "evo_cpu::MakeBarrier"},
    {"mbarrier.arrive.shared::cta.b64", "evo_cpu::ArriveAt"},
    {"mbarrier.arrive.expect_tx.shared::cta.b64", "evo_cpu::ArriveAt"},
    {"mbarrier.try_wait.parity.shared::cta.b64", "evo_cpu::WaitAt"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", "evo_cpu::CopyBox<2>"},
    {"cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", "evo_cpu::CopyBox<3>"},
    {"ex2.approx.f32", "evo_cpu::PowerOfTwo<false>"},
    {"ex2.approx.ftz.f32", "evo_cpu::PowerOfTwo<true>"},
});

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// The parts between separators outside of literals and parentheses.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      continue;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == separator && depth == 0) {
      parts.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// String literals one after another, with \n and \t as blanks; nullopt if there is anything else.
std::optional<std::string> Literals(std::string_view text) {
  std::string joined;
  for (text = Trimmed(text); !text.empty(); text = Trimmed(text)) {
    const std::size_t end = text.find('"', 1);
    if (text.front() != '"' || end == std::string_view::npos) return std::nullopt;
    joined += text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  }
  for (const std::string_view blank : {"\\n", "\\t"}) {
    for (std::size_t at; (at = joined.find(blank)) != std::string::npos;) joined.replace(at, blank.size(), " ");
  }
  return joined;
}

// Adds the expressions of `"constraint"(expression), ..`.
bool AddOperands(std::string_view section, std::vector<std::string>& operands) {
  if (Trimmed(section).empty()) return true;
  for (const std::string_view part : Split(section, ',')) {
    const std::string_view operand = Trimmed(part);
    const std::size_t open = operand.find('(');
    if (operand.empty() || operand.front() != '"' || operand.back() != ')' || open == std::string_view::npos) return false;
    operands.emplace_back(operand.substr(open));
  }
  return true;
}

// The instruction in braces that uses a predicate, with a register in its place: what a `setp.ne.b32` before it compares with 0,
// as of wgmma, or what a `selp.u32` behind it makes of the answer, as of mbarrier.try_wait. Any other text stays.
std::string WithoutPredicate(std::string_view text) {
  constexpr std::string_view kDeclared = ".reg .pred p;", kBefore = "setp.ne.b32 p, ", kBehind = ", 0;";
  constexpr std::string_view kSelect = "selp.u32 ", kSelected = ", 1, 0, p;";
  std::string_view inner = Trimmed(text);
  if (!inner.starts_with('{') || !inner.ends_with('}')) return std::string(text);
  inner = Trimmed(inner.substr(1, inner.size() - 2));
  if (!inner.starts_with(kDeclared)) return std::string(text);
  inner = Trimmed(inner.substr(kDeclared.size()));
  std::string operand, instruction;
  if (const std::size_t end = inner.find(kBehind); inner.starts_with(kBefore) && end != std::string_view::npos) {
    operand = inner.substr(kBefore.size(), end - kBefore.size());
    instruction = Trimmed(inner.substr(end + kBehind.size()));
  } else if (const std::size_t select = inner.find(kSelect); select != std::string_view::npos && inner.ends_with(kSelected)) {
    operand = inner.substr(select + kSelect.size(), inner.size() - select - kSelect.size() - kSelected.size());
    instruction = Trimmed(inner.substr(0, select));
  }
  const std::size_t use = std::min(instruction.find(" p,"), instruction.find(" p;"));
  if (use == std::string::npos) return std::string(text);
  return instruction.replace(use + 1, 1, operand);
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() < 4 &&
         std::all_of(text.begin(), text.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
}

}  // namespace

std::optional<std::string> HostAssembly(std::string_view arguments) {
  const std::vector<std::string_view> sections = Split(arguments, ':');
  const std::optional<std::string> literals = Literals(sections[0]);
  std::vector<std::string> operands;
  if (!literals || Trimmed(sections[0]).empty() || sections.size() > 4) return std::nullopt;
  for (std::size_t i = 1; i < std::min<std::size_t>(sections.size(), 3); ++i) {
    if (!AddOperands(sections[i], operands)) return std::nullopt;
  }
  const std::string instruction = WithoutPredicate(*literals);
  std::string_view text = Trimmed(instruction);
  if (text.ends_with(';')) text = Trimmed(text.substr(0, text.size() - 1));
  // Only the compiler must not move anything past it.
  if (text.empty()) return "evo_cpu::NothingToWaitFor()";
  const std::string_view name = text.substr(0, text.find_first_of(" {["));
  const auto* const known =
      std::find_if(kInstructions.begin(), kInstructions.end(), [&](const Instruction& one) { return one.name == name; });
  if (known == kInstructions.end()) return std::nullopt;
  std::string plain(text.substr(name.size()));
  std::erase_if(plain, [](char c) { return c == '{' || c == '}' || c == '[' || c == ']' || IsSpace(c); });
  std::vector<std::string> values;
  for (const std::string_view operand : Split(plain, ',')) {
    if (plain.empty()) break;
    if (IsNumber(operand) || operand == "_") {
      values.emplace_back(operand == "_" ? "evo_cpu::_" : operand);
      continue;
    }
    if (!operand.starts_with('%') || !IsNumber(operand.substr(1))) return std::nullopt;
    const auto number = static_cast<std::size_t>(std::stoi(std::string(operand.substr(1))));
    if (number >= operands.size()) return std::nullopt;
    values.push_back(operands[number]);
  }
  return fmt::format("{}({})", known->function, fmt::join(values, ", "));
}

}  // namespace evo
