#include "kernel_templates/npz_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <minizip/unzip.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <regex>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace evo {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = 1 << 16;
constexpr std::string_view kSuffix = ".npy";
constexpr std::string_view kDamaged = "is damaged; write it again with numpy.savez";

[[noreturn]] void Fail(const std::string& file, std::string_view what) { throw UsageError(fmt::format("{}: {}", file, what)); }

struct Close {
  void operator()(unzFile archive) const { unzClose(archive); }
};
using Archive = std::unique_ptr<std::remove_pointer_t<unzFile>, Close>;

voidpf OpenBytes(voidpf opaque, const void*, int) {
  const auto& bytes = *static_cast<const std::string_view*>(opaque);
  return ::fmemopen(const_cast<char*>(bytes.data()), bytes.size(), "rb");
}

Archive Open(std::string_view& bytes, const std::string& file) {
  zlib_filefunc64_def functions;
  fill_fopen64_filefunc(&functions);
  functions.zopen64_file = OpenBytes;
  functions.opaque = &bytes;
  Archive archive(unzOpen2_64(file.c_str(), &functions));
  if (archive == nullptr) Fail(file, fmt::format("is no .npz file, or {}", kDamaged));
  return archive;
}

std::string NameOfEntry(unzFile archive, const std::string& file) {
  constexpr std::size_t kMostName = 1024;
  unz_file_info64 entry;
  std::string name(kMostName, '\0');
  if (unzGetCurrentFileInfo64(archive, &entry, name.data(), kMostName, nullptr, 0, nullptr, 0) != UNZ_OK ||
      entry.size_filename > kMostName)
    Fail(file, kDamaged);
  name.resize(entry.size_filename);
  return name;
}

// The contents of the present entry, which may have `most` bytes.
std::string Contents(unzFile archive, std::uint64_t most, const std::string& file) {
  if (unzOpenCurrentFile(archive) != UNZ_OK) Fail(file, kDamaged);
  std::string contents;
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const int got = unzReadCurrentFile(archive, piece.data(), piece.size());
    if (got < 0) Fail(file, kDamaged);
    if (got == 0) break;
    contents.append(piece.data(), static_cast<std::size_t>(got));
    if (contents.size() > most)
      Fail(file, fmt::format("has more than {} MiB of arrays; record a smaller case", kMostNpzBytes >> 20));
  }
  // Compares the check sum.
  if (unzCloseCurrentFile(archive) != UNZ_OK) Fail(file, kDamaged);
  return contents;
}

std::optional<Dtype> DtypeOf(const std::string& type) {
  static constexpr std::array<std::pair<std::string_view, Dtype>, 12> kTypes{{{"f8", Dtype::kF64},
                                                                              {"f4", Dtype::kF32},
                                                                              {"f2", Dtype::kF16},
                                                                              {"i8", Dtype::kI64},
                                                                              {"i4", Dtype::kI32},
                                                                              {"i2", Dtype::kI16},
                                                                              {"i1", Dtype::kI8},
                                                                              {"u8", Dtype::kU64},
                                                                              {"u4", Dtype::kU32},
                                                                              {"u2", Dtype::kU16},
                                                                              {"u1", Dtype::kU8},
                                                                              {"b1", Dtype::kU8}}};
  for (const auto& [name, dtype] : kTypes) {
    if (type.size() == name.size() + 1 && type.ends_with(name)) return dtype;
  }
  return std::nullopt;
}

// The value of a key in the header of an array: a dictionary in Python's notation, with these three keys.
std::string Field(const std::string& header, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(header, found, std::regex(pattern)) ? found[1].str() : "";
}

std::optional<std::vector<std::int64_t>> ParseShape(const std::string& text) {
  std::vector<std::int64_t> shape;
  static const std::regex number(R"(\s*(\d+)\s*(,|$))");
  auto at = text.cbegin();
  for (std::smatch found; std::regex_search(at, text.cend(), found, number, std::regex_constants::match_continuous);
       at = found[0].second) {
    const std::string digits = found[1].str();
    std::int64_t extent = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), extent).ec != std::errc()) return std::nullopt;
    shape.push_back(extent);
  }
  return text.find_first_not_of(' ', static_cast<std::size_t>(at - text.cbegin())) == std::string::npos ? std::optional(shape)
                                                                                                        : std::nullopt;
}

// The format of numpy.lib.format: a magic, a version, the length of the header in 2 bytes (from version 2 in 4), the header.
NpzArray ParseArray(std::string name, const std::string& contents, const std::string& file) {
  const std::string place = fmt::format("{}: array {}", file, name);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(contents[i])); };
  constexpr std::size_t kVersion = 6;
  constexpr std::size_t kLength = 8;
  const std::size_t length_bytes = contents.size() > kVersion && contents[kVersion] == 1 ? 2 : 4;
  const std::size_t begin = kLength + length_bytes;
  if (contents.size() < begin || !contents.starts_with(kMagic)) Fail(place, kDamaged);
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | byte(kLength + i);
  if (length > kMostHeader || contents.size() - begin < length) Fail(place, kDamaged);
  const std::string header = contents.substr(begin, length);

  NpzArray array;
  array.name = std::move(name);
  const std::string type = Field(header, R"('descr':\s*'([^']*)')");
  const std::string fortran = Field(header, R"('fortran_order':\s*(True|False))");
  const auto shape = ParseShape(Field(header, R"('shape':\s*\(([^)]*)\))"));
  if (header.find("'descr'") == std::string::npos || fortran.empty() || !shape) Fail(place, kDamaged);
  const auto dtype = DtypeOf(type);
  if (!dtype)
    Fail(place,
         fmt::format("has elements of type {}; real numbers, integers and bools can be read: convert it, bfloat16 to float32",
                     type.empty() ? "several parts" : type));
  if (type.front() == '>') Fail(place, fmt::format("is big endian ({}); save it with .astype('{}')", type, "<" + type.substr(1)));
  if (fortran == "True") Fail(place, "is in Fortran order; save numpy.ascontiguousarray of it");
  array.dtype = *dtype;
  array.shape = *shape;
  std::uint64_t wanted = ByteSize(array.dtype);
  for (const std::int64_t extent : array.shape) {
    if (__builtin_mul_overflow(wanted, static_cast<std::uint64_t>(extent), &wanted)) Fail(place, kDamaged);
  }
  if (contents.size() - begin - length != wanted) Fail(place, kDamaged);
  array.bytes = contents.substr(begin + length);
  return array;
}

}  // namespace

std::string ShapeText(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::vector<NpzArray> ParseNpz(std::string_view bytes, const std::string& file) {
  const Archive archive = Open(bytes, file);
  std::vector<NpzArray> arrays;
  std::uint64_t left = kMostNpzBytes;
  int status = unzGoToFirstFile(archive.get());
  for (; status == UNZ_OK; status = unzGoToNextFile(archive.get())) {
    const std::string name = NameOfEntry(archive.get(), file);
    if (!name.ends_with(kSuffix)) Fail(file, fmt::format("holds {}, which is no array; write it with numpy.savez", name));
    const std::string contents = Contents(archive.get(), left, file);
    left -= contents.size();
    arrays.push_back(ParseArray(name.substr(0, name.size() - kSuffix.size()), contents, file));
  }
  if (status != UNZ_END_OF_LIST_OF_FILE) Fail(file, kDamaged);
  return arrays;
}

}  // namespace evo
