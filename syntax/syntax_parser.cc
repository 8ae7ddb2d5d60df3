#include <clang-c/Index.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "syntax/flattener.h"
#include "syntax/preamble.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

// Its contents always come from memory, but without a file of that name libclang makes no precompiled preamble.
constexpr const char* kMainFile = "candidate.cu";

}  // namespace

struct SyntaxParser::State {
  SyntaxPaths paths;
  std::string file;  // path of kMainFile
  CXIndex index = nullptr;
  CXTranslationUnit unit = nullptr;

  void Dispose() {
    if (unit) clang_disposeTranslationUnit(unit);
    unit = nullptr;
  }

  std::vector<std::string> Arguments() const {
    return {"-x", "cuda", "-std=c++17", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "--cuda-path=" + paths.cuda_root.string(),
            "-nocudalib", "-D__CUDA_ARCH_FEAT_SM90_ALL",
            // Instantiates templates though the unit is a prefix (see Load), those of the headers once, into the preamble.
            "-fpch-instantiate-templates",
            // Only errors are asked for.
            "-w", "-resource-dir", paths.clang_resources.string(), "-I" + paths.headers.string(),
            "-I" + (paths.cuda_root / "include").string(), "-I" + (paths.cuda_root / "include" / "cccl").string()};
  }

  // Whether libclang could make a unit of it.
  bool Load(CXUnsavedFile& contents) {
    if (unit && clang_reparseTranslationUnit(unit, 1, &contents, clang_defaultReparseOptions(unit)) == 0) return true;
    Dispose();
    const std::vector<std::string> arguments = Arguments();
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    // Of the headers only declarations are of use, and what constant expressions need, which clang does not skip. Incomplete: at
    // the end of a whole unit clang 16 reads every device function of the preamble (Sema::emitDeferredDiags), 25 ms. For that,
    // what CUDA defers to the end goes unreported, such as device code that calls the host's.
    constexpr unsigned kOptions = CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse |
                                  CXTranslationUnit_KeepGoing | CXTranslationUnit_SkipFunctionBodies |
                                  CXTranslationUnit_LimitSkipFunctionBodiesToPreamble | CXTranslationUnit_Incomplete;
    return clang_parseTranslationUnit2(index, file.c_str(), pointers.data(), static_cast<int>(pointers.size()), &contents, 1,
                                       kOptions, &unit) == CXError_Success;
  }
};

SyntaxParser::SyntaxParser(SyntaxPaths paths) : state_(std::make_unique<State>()) {
  for (const auto& file :
       {paths.cuda_root / "include" / "cuda_runtime.h", paths.clang_resources / "include" / "cuda_wrappers" / "new",
        paths.headers / "texture_fetch_functions.h", paths.headers / kMainFile}) {
    if (!std::filesystem::exists(file)) {
      throw Error(fmt::format("{}: not found; the syntax parser needs the CUDA toolkit's headers and evo's share/ folder",
                              file.string()));
    }
  }
  state_->file = (paths.headers / kMainFile).string();
  state_->paths = std::move(paths);
  // Declarations that come out of the precompiled preamble are not visited: they are thousands, and none is ours.
  state_->index = clang_createIndex(/*excludeDeclarationsFromPCH=*/1, /*displayDiagnostics=*/0);
  if (!state_->index) throw Error("libclang: no index could be made; is it libclang 16?");
}

SyntaxParser::~SyntaxParser() {
  state_->Dispose();
  clang_disposeIndex(state_->index);
}

SyntaxTree SyntaxParser::Parse(const std::string& text) {
  const std::string preamble = PreambleOf(text);
  const std::string contents = preamble + text;
  CXUnsavedFile file{state_->file.c_str(), contents.data(), contents.size()};
  SyntaxTree tree;
  tree.text_ = text;
  if (!state_->Load(file)) {
    state_->Dispose();
    tree.nodes_.push_back({.kind = CXCursor_TranslationUnit, .kind_name = "TranslationUnit"});
    tree.errors_.push_back("1:1: libclang could not parse the source at all");
  } else {
    const auto lines = static_cast<unsigned>(std::count(preamble.begin(), preamble.end(), '\n'));
    tree.errors_ = ErrorsOf(state_->unit, state_->file, lines);
    Flatten(state_->unit, state_->file, tree.text_, static_cast<std::uint32_t>(preamble.size()), tree.nodes_);
  }
  tree.ComputeDigests();
  tree.ComputeUses();
  return tree;
}

}  // namespace evo
