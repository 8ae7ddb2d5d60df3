#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace evo {

// A 64-bit ELF file that a compiler made. Headers are copied out, since nothing in a string is aligned. Throws Error with
// `damaged` where the file cannot be read.
class ElfFile {
 public:
  ElfFile(std::string_view bytes, std::string damaged) : bytes_(bytes), damaged_(std::move(damaged)) {
    const auto header = Copy<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) throw Error(damaged_);
    for (std::size_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(Copy<Elf64_Shdr>(header.e_shoff + i * header.e_shentsize));
    if (header.e_shstrndx >= sections_.size()) throw Error(damaged_);
    names_ = sections_[header.e_shstrndx];
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  // Whether nothing is missing at its end, as after a disk was full.
  bool IsWhole() const {
    const auto header = Copy<Elf64_Ehdr>(0);
    std::uint64_t end = header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize;
    for (const Elf64_Shdr& section : sections_)
      end = std::max(end, section.sh_type == SHT_NOBITS ? 0 : section.sh_offset + section.sh_size);
    return end <= bytes_.size();
  }
  std::string Name(const Elf64_Shdr& section) const { return Text(names_, section.sh_name); }

  // Calls visit(symbol, name) for the symbols of the tables of this type: SHT_SYMTAB or SHT_DYNSYM.
  template <typename Visit>
  void ForEachSymbol(std::uint32_t type, Visit visit) const {
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != type || table.sh_link >= sections_.size()) continue;
      ForEachRecord<Elf64_Sym>(table,
                               [&](const Elf64_Sym& symbol) { visit(symbol, Text(sections_[table.sh_link], symbol.st_name)); });
    }
  }

  // Calls visit(record) for each record of a section.
  template <typename Record, typename Visit>
  void ForEachRecord(const Elf64_Shdr& section, Visit visit) const {
    if (section.sh_entsize < sizeof(Record)) return;
    for (std::uint64_t at = 0; at + sizeof(Record) <= section.sh_size; at += section.sh_entsize)
      visit(Copy<Record>(section.sh_offset + at));
  }

 private:
  template <typename Record>
  Record Copy(std::uint64_t offset) const {
    Record record;
    if (offset > bytes_.size() || sizeof(Record) > bytes_.size() - offset) throw Error(damaged_);
    std::memcpy(&record, bytes_.data() + offset, sizeof(Record));
    return record;
  }

  std::string Text(const Elf64_Shdr& table, std::uint64_t offset) const {
    const std::uint64_t begin = table.sh_offset + offset;
    const std::size_t end = begin < bytes_.size() ? bytes_.find('\0', begin) : std::string_view::npos;
    if (end == std::string_view::npos) throw Error(damaged_);
    return std::string(bytes_.substr(begin, end - begin));
  }

  std::string_view bytes_;
  std::string damaged_;
  std::vector<Elf64_Shdr> sections_;
  Elf64_Shdr names_{};
};

}  // namespace evo
