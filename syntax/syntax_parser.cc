#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "syntax/flattener.h"
#include "syntax/kept_preambles.h"
#include "syntax/libclang.h"
#include "syntax/preamble.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

// The contents always come from memory, but libclang precompiles no preamble unless a file of that name exists.
constexpr const char* kMainFile = "candidate.cu";

}  // namespace

struct SyntaxParser::State {
  explicit State(SyntaxPaths from) : paths(std::move(from)), file((paths.headers / kMainFile).string()), preambles(paths.cache) {}

  SyntaxPaths paths;
  std::string file;  // path of kMainFile
  KeptPreambles preambles;
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

  // Parses or reparses the contents, which begin with the preamble. False if libclang cannot make a translation unit.
  bool Load(const std::string& preamble, CXUnsavedFile& contents) {
    if (unit && Clang().reparseTranslationUnit(unit, 1, &contents, Clang().defaultReparseOptions(unit)) == 0) return true;
    Dispose();
    if (const auto kept = preambles.Find(index, preamble, Arguments()); !kept.empty()) {
      std::vector<std::string> arguments = Arguments();
      arguments.insert(arguments.end(), {"-include-pch", kept.string()});
      Open(arguments, contents, CXTranslationUnit_KeepGoing | CXTranslationUnit_Incomplete);
      if (!KeptPreambles::RemoveRefused(unit, kept)) return true;
      Dispose();
    }
    // Function bodies in headers are skipped, except those that constant expressions need. The unit is marked incomplete because
    // clang 16 otherwise visits every device function of the preamble at the end (Sema::emitDeferredDiags), which takes 25 ms.
    // Errors that CUDA defers to the end, such as device code that calls host code, are therefore not reported.
    constexpr unsigned kOptions = CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse |
                                  CXTranslationUnit_KeepGoing | CXTranslationUnit_SkipFunctionBodies |
                                  CXTranslationUnit_LimitSkipFunctionBodiesToPreamble | CXTranslationUnit_Incomplete;
    return Open(Arguments(), contents, kOptions);
  }

  bool Open(const std::vector<std::string>& arguments, CXUnsavedFile& contents, unsigned options) {
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    return Clang().parseTranslationUnit2(index, file.c_str(), pointers.data(), static_cast<int>(pointers.size()), &contents, 1,
                                         options, &unit) == CXError_Success;
  }
};

SyntaxParser::SyntaxParser(SyntaxPaths paths) : state_(std::make_unique<State>(std::move(paths))) {
  const SyntaxPaths& from = state_->paths;
  for (const auto& file :
       {from.cuda_root / "include" / "cuda_runtime.h", from.clang_resources / "include" / "cuda_wrappers" / "new",
        from.headers / "texture_fetch_functions.h", from.headers / kMainFile}) {
    if (!std::filesystem::exists(file)) {
      throw Error(fmt::format("{}: not found; the syntax parser needs the CUDA toolkit's headers and evo's share/ folder",
                              file.string()));
    }
  }
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
  if (!state_->Load(preamble, file)) {
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
