#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "syntax/flattener.h"
#include "syntax/libclang.h"
#include "syntax/preamble.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

// The contents always come from memory, but libclang precompiles no preamble unless a file of that name exists.
constexpr const char* kMainFile = "candidate.cu";

}  // namespace

struct SyntaxParser::State {
  SyntaxPaths paths;
  std::string file;  // path of kMainFile
  CXIndex index = nullptr;
  CXTranslationUnit unit = nullptr;

  void Dispose() {
    if (unit) Clang().disposeTranslationUnit(unit);
    unit = nullptr;
  }

  std::vector<std::string> Arguments() const {
    return {"-x", "cuda", "-std=c++17", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "--cuda-path=" + paths.cuda_root.string(),
            "-nocudalib", "-D__CUDA_ARCH_FEAT_SM90_ALL",
            // Instantiates templates although the unit is incomplete (see Load); those of the headers once, in the preamble.
            "-fpch-instantiate-templates",
            // Reads on after any number of errors: a user's program may lack its headers, and those of the toolkit have some.
            "-ferror-limit=0",
            // Suppresses warnings.
            "-w", "-resource-dir", paths.clang_resources.string(), "-I" + paths.headers.string(),
            "-I" + (paths.cuda_root / "include").string(), "-I" + (paths.cuda_root / "include" / "cccl").string()};
  }

  // Parses or reparses the contents. False if libclang cannot make a translation unit.
  bool Load(CXUnsavedFile& contents) {
    if (unit && Clang().reparseTranslationUnit(unit, 1, &contents, Clang().defaultReparseOptions(unit)) == 0) return true;
    Dispose();
    const std::vector<std::string> arguments = Arguments();
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    // Function bodies in headers are skipped, except those that constant expressions need. The unit is marked incomplete because
    // clang 16 otherwise visits every device function of the preamble at the end (Sema::emitDeferredDiags), which takes 25 ms.
    // Errors that CUDA defers to the end, such as device code that calls host code, are therefore not reported.
    constexpr unsigned kOptions = CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse |
                                  CXTranslationUnit_KeepGoing | CXTranslationUnit_SkipFunctionBodies |
                                  CXTranslationUnit_LimitSkipFunctionBodiesToPreamble | CXTranslationUnit_Incomplete;
    return Clang().parseTranslationUnit2(index, file.c_str(), pointers.data(), static_cast<int>(pointers.size()), &contents, 1,
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
  // The thousands of declarations in the precompiled preamble are not visited, since none is in the main file.
  state_->index = Clang().createIndex(/*excludeDeclarationsFromPCH=*/1, /*displayDiagnostics=*/0);
  if (!state_->index) throw Error("libclang: cannot create an index; check that libclang 16 is installed");
}

SyntaxParser::~SyntaxParser() {
  state_->Dispose();
  Clang().disposeIndex(state_->index);
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
