#include "kernel_templates/npz_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <minizip/unzip.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace evo {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = 1 << 16;
constexpr std::size_t kMostTypeShown = 40;
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

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view WithoutBlanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// What follows a key in the header of an array: a dictionary in Python's notation, with three keys. nullopt if it is not there.
// By hand: std::regex calls itself for each character, and a long header would end the process.
std::optional<std::string_view> ValueOf(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  return at == std::string_view::npos ? std::nullopt : std::optional(WithoutBlanks(header.substr(at + key.size())));
}

// What stands between these two characters at the beginning of a value; empty if it does not begin so.
std::string_view Enclosed(std::string_view value, char open, char close) {
  const std::size_t end = value.find(close, 1);
  return value.starts_with(open) && end != std::string_view::npos ? value.substr(1, end - 1) : std::string_view();
}

// "3, 4", "3," or nothing.
std::optional<std::vector<std::int64_t>> ParseShape(std::string_view text) {
  std::vector<std::int64_t> shape;
  for (text = WithoutBlanks(text); !text.empty();) {
    const std::string_view digits = WithoutBlanks(text.substr(0, text.find(',')));
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), extent);
    if (error != std::errc() || end != digits.data() + digits.size() || extent < 0) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(std::min(text.find(','), text.size() - 1) + 1);
    text = WithoutBlanks(text);
  }
  return shape;
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
  const std::string_view header = std::string_view(contents).substr(begin, length);

  NpzArray array;
  array.name = std::move(name);
  const auto descr = ValueOf(header, "'descr':");
  const auto fortran = ValueOf(header, "'fortran_order':");
  const auto shape_text = ValueOf(header, "'shape':");
  if (!descr || !fortran || !(fortran->starts_with("True") || fortran->starts_with("False")) || !shape_text ||
      !shape_text->starts_with('('))
    Fail(place, kDamaged);
  const auto shape = ParseShape(Enclosed(*shape_text, '(', ')'));
  if (!shape) Fail(place, kDamaged);
  const std::string type(Enclosed(*descr, '\'', '\''));
  const auto dtype = DtypeOf(type);
  if (!dtype)
    Fail(place,
         fmt::format("has elements of type {}; real numbers, integers and bools can be read: convert it, bfloat16 to float32",
                     type.empty() ? "several parts" : type.substr(0, kMostTypeShown)));
  if (type.front() == '>') Fail(place, fmt::format("is big endian ({}); save it with .astype('{}')", type, "<" + type.substr(1)));
  if (fortran->starts_with("True")) Fail(place, "is in Fortran order; save numpy.ascontiguousarray of it");
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
