#include "evaluator/compiler/rules/image_rules.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "evaluator/compiler/rules/elf_file.h"

namespace evo {
namespace {

// Functions of mathematics, each also with an f at its end. Not those of the rounding mode, which would change the checks.
constexpr auto kMathematics = std::to_array<std::string_view>({
    "acos",      "acosh",     "asin", "asinh",     "atan",   "atan2",  "atanh", "cbrt",      "ceil",    "copysign", "cos",
    "cosh",      "erf",       "erfc", "exp",       "exp10",  "exp2",   "expm1", "fabs",      "fdim",    "floor",    "fma",
    "fmax",      "fmin",      "fmod", "frexp",     "hypot",  "ilogb",  "j0",    "j1",        "jn",      "ldexp",    "lgamma",
    "llrint",    "llround",   "log",  "log10",     "log1p",  "log2",   "logb",  "lrint",     "lround",  "modf",     "nan",
    "nearbyint", "nextafter", "pow",  "remainder", "remquo", "rint",   "round", "roundeven", "scalbln", "scalbn",   "sin",
    "sincos",    "sinh",      "sqrt", "tan",       "tanh",   "tgamma", "trunc", "y0",        "y1",      "yn",
});

// What g++ itself calls for device code: memory, printf and its shorter forms, assert, and what unwinds a stack.
constexpr auto kOthers = std::to_array<std::string_view>({
    "__assert_fail",
    "__gxx_personality_v0",
    "__memcpy_chk",
    "__memset_chk",
    "__printf_chk",
    "__stack_chk_fail",
    "_GLOBAL_OFFSET_TABLE_",
    "_Unwind_Resume",
    "abs",
    "labs",
    "llabs",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "printf",
    "putchar",
    "puts",
    "strlen",
    "vprintf",
});

// Type information of classes with virtual functions.
constexpr std::string_view kTypeInformation = "_ZTVN10__cxxabiv1";

bool IsKnown(std::string_view name) {
  if (name.empty() || name.starts_with(kTypeInformation)) return true;
  if (std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end()) return true;
  const auto is_mathematics = [](std::string_view one) {
    return std::find(kMathematics.begin(), kMathematics.end(), one) != kMathematics.end();
  };
  return is_mathematics(name) || (name.ends_with('f') && is_mathematics(name.substr(0, name.size() - 1)));
}

std::string Readable(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 && name ? name.get() : symbol;
}

bool RunsWhenLoaded(const ElfFile& elf, const Elf64_Shdr& section, std::size_t own_initialisers) {
  if (section.sh_size == 0) return false;
  const std::uint32_t type = section.sh_type;
  if (type == SHT_INIT_ARRAY) return section.sh_size > own_initialisers * sizeof(std::uint64_t);
  if (type == SHT_FINI_ARRAY || type == SHT_PREINIT_ARRAY) return true;
  constexpr std::array<std::string_view, 4> kNames{".init", ".fini", ".ctors", ".dtors"};
  if (std::find(kNames.begin(), kNames.end(), elf.Name(section)) != kNames.end()) return true;
  bool resolves = false;
  if (type == SHT_RELA) {
    elf.ForEachRecord<Elf64_Rela>(
        section, [&](const Elf64_Rela& relocation) { resolves |= ELF64_R_TYPE(relocation.r_info) == R_X86_64_IRELATIVE; });
  }
  return resolves;
}

}  // namespace

std::optional<std::string> ObjectionToImage(std::string_view image, std::size_t own_initialisers) {
  const ElfFile elf(image, "the host compiler wrote an image that cannot be read; is the disk full?");
  for (const Elf64_Shdr& section : elf.sections()) {
    if (RunsWhenLoaded(elf, section, own_initialisers))
      return "runs code when it is loaded: a constructor, or a variable whose first value is computed; a kernel has none";
    if (section.sh_flags & SHF_TLS) return "has data of the host's threads; use a local variable or evo:workspace";
    if ((section.sh_flags & SHF_WRITE) && (section.sh_flags & SHF_EXECINSTR)) return "has code that can be changed";
  }
  std::optional<std::string> objection;
  elf.ForEachSymbol(SHT_DYNSYM, [&](const Elf64_Sym& symbol, const std::string& name) {
    const bool resolver = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
    if (objection || (symbol.st_shndx != SHN_UNDEF && !resolver) || IsKnown(name)) return;
    objection = fmt::format("uses `{}` of the host; a kernel calls functions of its own and of CUDA", Readable(name));
  });
  return objection;
}

}  // namespace evo
