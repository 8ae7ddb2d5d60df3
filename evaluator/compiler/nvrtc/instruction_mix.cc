#include "evaluator/compiler/nvrtc/instruction_mix.h"

#include <elf.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "evaluator/compiler/rules/elf_file.h"

namespace evo {
namespace {

// An instruction of sm_75 to sm_90a has 128 bits. The lowest nine say what it does, and the next three where its operands are; a
// load has its size at bits 73 to 75. NVIDIA documents none of it. The numbers are those that nvdisasm's words and the bytes of
// the same instructions have in common, over kernels made for sm_80 and sm_90a; tests/cuda_device holds them.
struct Instruction {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
constexpr std::size_t kBytes = sizeof(Instruction);
constexpr unsigned kOperations = 512;

constexpr unsigned kPadding = 0x118;  // NOP
constexpr unsigned kBranch = 0x147;   // BRA

// Where each operation is counted; null: only among all.
using Counter = int InstructionMix::*;
constexpr std::array<Counter, kOperations> MakeCounters() {
  std::array<Counter, kOperations> counters{};
  const auto set = [&](Counter counter, std::initializer_list<unsigned> operations) {
    for (const unsigned operation : operations) counters[operation] = counter;
  };
  using Mix = InstructionMix;
  set(&Mix::loads_32, {0x180, 0x181});                                 // LD LDG, if they are not wider
  set(&Mix::stores, {0x185, 0x186, 0x18e, 0x1a2, 0x1a3, 0x1a8, 0x1a9,  // ST STG RED ATOM ATOMG
                     0x1b5, 0x1bb});                                   // UTMASTG UBLKRED
  set(&Mix::shared_loads, {0x184, 0x03b});                             // LDS LDSM
  set(&Mix::shared_stores, {0x188, 0x18c, 0x18d, 0x044, 0x1bd});       // STS ATOMS STSM STAS
  set(&Mix::async_copies, {0x1ae, 0x1b4, 0x1ba});                      // LDGSTS UTMALDG UBLKCP
  set(&Mix::tensor_operations, {0x037, 0x03c, 0x03d, 0x03f,            // IMMA HMMA BMMA DMMA
                                0x1f0, 0x1f1, 0x1f2, 0x1f3});          // HGMMA IGMMA BGMMA QGMMA
  set(&Mix::barriers, {0x11d, 0x1c7});                                 // BAR UCGABAR; not WARPSYNC, for which no other warp waits
  set(&Mix::conversions, {0x03e, 0x045, 0x104, 0x105, 0x106, 0x107,    // F2FP I2FP F2F F2I I2F FRND
                          0x110, 0x111, 0x112, 0x113});                // the same of 64 bits
  set(&Mix::special_functions, {0x108});                               // MUFU
  set(&Mix::integer_operations,
      {0x00c, 0x010, 0x011, 0x012, 0x013, 0x014, 0x016, 0x017,            // ISETP IADD3 LEA LOP3 IABS VABSDIFF PRMT IMNMX
       0x019, 0x024, 0x025, 0x026, 0x027, 0x048,                          // SHF IMAD IDP VIMNMX
       0x08c, 0x090, 0x091, 0x092, 0x099, 0x0a4, 0x0a5,                   // UISETP UIADD3 ULEA ULOP3 USHF UIMAD
       0x0bd, 0x0bf, 0x100, 0x101, 0x109,                                 // UFLO UPOPC FLO BREV POPC
       0x00f, 0x036, 0x046});                                             // VIMNMX3 VIADD VIADDMNMX
  set(&Mix::float_operations, {0x009, 0x00b, 0x020, 0x021, 0x023, 0x102,  // FMNMX FSETP FMUL FADD FFMA FCHK
                               0x028, 0x029, 0x02a, 0x02b,                // DMUL DADD DSETP DFMA
                               0x030, 0x031, 0x032, 0x033, 0x034, 0x035, 0x040});  // HADD2 HFMA2 HMUL2 HSET2 HSETP2 HMNMX2
  set(&Mix::branches, {0x144, kBranch, 0x149, 0x150});                             // CALL BRA BRX RET
  set(&Mix::local_accesses, {0x183, 0x187});                                       // LDL STL
  return counters;
}
constexpr std::array<Counter, kOperations> kCounters = MakeCounters();

unsigned OperationOf(const Instruction& instruction) { return instruction.low % kOperations; }

void Count(const Instruction& instruction, InstructionMix& mix) {
  constexpr unsigned k64Bits = 5;
  constexpr unsigned k128Bits = 6;
  if (OperationOf(instruction) == kPadding) return;
  ++mix.instructions;
  Counter counter = kCounters[OperationOf(instruction)];
  if (counter == nullptr) return;
  const unsigned size = instruction.high >> 9 & 7;
  if (counter == &InstructionMix::loads_32 && size == k128Bits) counter = &InstructionMix::loads_128;
  if (counter == &InstructionMix::loads_32 && size == k64Bits) counter = &InstructionMix::loads_64;
  ++(mix.*counter);
}

// A function ends with a branch to itself and with padding, which never run.
void CountFunction(std::string_view code, InstructionMix& mix) {
  const auto at = [&](std::size_t index) {
    Instruction instruction;
    std::memcpy(&instruction, code.data() + index * kBytes, kBytes);
    return instruction;
  };
  std::size_t end = code.size() / kBytes;
  while (end > 0 && OperationOf(at(end - 1)) == kPadding) --end;
  if (end > 0 && OperationOf(at(end - 1)) == kBranch) --end;
  for (std::size_t i = 0; i < end; ++i) Count(at(i), mix);
}

bool IsDecoded(std::string_view arch) {
  constexpr std::string_view kPrefix = "sm_";
  constexpr int kOldest = 75;
  constexpr int kNewest = 90;
  int number = 0;
  if (!arch.starts_with(kPrefix)) return false;
  std::from_chars(arch.data() + kPrefix.size(), arch.data() + arch.size(), number);
  return number >= kOldest && number <= kNewest;
}

}  // namespace

InstructionMix CountInstructions(std::string_view cubin, std::string_view arch) {
  InstructionMix mix;
  if (!IsDecoded(arch)) return mix;
  const ElfFile elf(cubin, "ptxas wrote a cubin that cannot be read; install the CUDA toolkit again");
  mix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (const Elf64_Shdr& section : elf.sections()) {
    if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_EXECINSTR) == 0) continue;
    if (section.sh_offset > cubin.size() || section.sh_size > cubin.size() - section.sh_offset) continue;
    CountFunction(cubin.substr(section.sh_offset, section.sh_size), mix);
  }
  return mix;
}

}  // namespace evo
