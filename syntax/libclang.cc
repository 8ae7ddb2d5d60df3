#include "syntax/libclang.h"

#include "platform/shared_library.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

Libclang OpenLibclang() {
  // Beside evo in a package, else where the loader finds it.
  const SharedLibrary library("libclang 16", {}, {EVO_LIBCLANG_FILE, "libclang-16.so.1", "libclang.so.16"},
                              "install libclang 16");
  Libclang clang{};
#define EVO_LIBCLANG_RESOLVE(name) library.Resolve(clang.name, "clang_" #name);
  EVO_LIBCLANG_FUNCTIONS(EVO_LIBCLANG_RESOLVE)
#undef EVO_LIBCLANG_RESOLVE
  return clang;
}

}  // namespace

const Libclang& Clang() {
  static const Libclang clang = OpenLibclang();
  return clang;
}

void LoadParserLibrary() { Clang(); }

}  // namespace evo
