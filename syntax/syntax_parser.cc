#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "syntax/byte_pointers.h"
#include "syntax/conditional_sums.h"
#include "syntax/flattener.h"
#include "syntax/functor_calls.h"
#include "syntax/index_vectors.h"
#include "syntax/inlining.h"
#include "syntax/kept_preambles.h"
#include "syntax/libclang.h"
#include "syntax/local_objects.h"
#include "syntax/moving_pointers.h"
#include "syntax/plain_initialisers.h"
#include "syntax/plain_loops.h"
#include "syntax/plain_text.h"
#include "syntax/preamble.h"
#include "syntax/shared_pointers.h"
#include "syntax/syntax_tree.h"
#include "syntax/template_arguments.h"
#include "syntax/thread_groups.h"
#include "syntax/wide_variables.h"

namespace evo {
namespace {

// The contents always come from memory, but libclang precompiles no preamble unless a file of that name exists.
constexpr const char* kMainFile = "candidate.cu";

// How often a text is written out further: calls of functions, so deep, and what they had as parameters.
constexpr int kMostInlinedCalls = 10;

}  // namespace

struct SyntaxParser::State : std::enable_shared_from_this<State> {
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

  SyntaxTree Parse(const std::string& text);
  std::shared_ptr<SyntaxTree> Next(const SyntaxTree& tree, const std::string& text);
  std::shared_ptr<const SyntaxTree> PlainOf(const SyntaxTree& tree);
  // Lets a tree find its plain one, and parse others.
  void Remember(SyntaxTree& tree, bool has_plain);

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

SyntaxParser::SyntaxParser(SyntaxPaths paths) : state_(std::make_shared<State>(std::move(paths))) {
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

SyntaxTree SyntaxParser::State::Parse(const std::string& text) {
  const std::string preamble = PreambleOf(text);
  const std::string contents = preamble + text;
  CXUnsavedFile unsaved{file.c_str(), contents.data(), contents.size()};
  SyntaxTree tree;
  tree.text_ = text;
  if (!Load(preamble, unsaved)) {
    Dispose();
    tree.nodes_.push_back({.kind = CXCursor_TranslationUnit, .kind_name = "TranslationUnit"});
    tree.errors_.push_back("1:1: libclang could not parse the source at all");
  } else {
    const auto lines = static_cast<unsigned>(std::count(preamble.begin(), preamble.end(), '\n'));
    tree.errors_ = ErrorsOf(unit, file, lines);
    Flatten(unit, file, tree.text_, static_cast<std::uint32_t>(preamble.size()), tree.nodes_);
  }
  tree.ComputeDigests();
  tree.ComputeUses();
  return tree;
}

// The tree of a text that is `tree`'s written out more; null if it does not parse as well, or lacks a declaration of the file.
std::shared_ptr<SyntaxTree> SyntaxParser::State::Next(const SyntaxTree& tree, const std::string& text) {
  auto next = std::make_shared<SyntaxTree>(Parse(text));
  // What is wrong in both is so in a header.
  if (next->errors_.size() > tree.errors_.size()) return nullptr;
  const auto& declared = tree.nodes_.front().children;
  std::size_t at = 0;
  for (const int child : next->nodes_.front().children) {
    const SyntaxNode& one = next->node(child);
    const auto known = [&](int other) { return tree.node(other).name == one.name; };
    if (at < declared.size() && known(declared[at]))
      ++at;
    else if (std::any_of(declared.begin(), declared.end(), known))
      return nullptr;
  }
  return at == declared.size() ? next : nullptr;
}

// The source with macro calls and templates written out or, if nothing is left of them, with calls of its functions; null if that
// is not another one that parses as well.
std::shared_ptr<const SyntaxTree> SyntaxParser::State::PlainOf(const SyntaxTree& tree) {
  std::shared_ptr<SyntaxTree> plain;
  const auto with_arguments = [](const SyntaxTree& of) {
    const bool may = of.text_.find("template") != std::string::npos;
    const auto text = may ? WithTemplateArguments(of) : std::nullopt;
    return text ? PlainText(*text) : std::nullopt;
  };
  std::optional<std::string> text;
  if (!tree.written_out_) {
    text = PlainText(tree.text());
    if (!text) text = with_arguments(tree);
  }
  for (int round = 0; text && round < kMostInlinedCalls; ++round) {
    auto next = Next(plain ? *plain : tree, *text);
    if (!next) break;
    plain = std::move(next);
    text = with_arguments(*plain);
  }
  if (plain) {
    plain->written_out_ = true;
    Remember(*plain, true);
    return plain;
  }
  const auto without_calls = [](const SyntaxTree& of) {
    auto less = WithoutThreadGroups(of);
    if (!less) less = WithoutFunctorCalls(of);
    if (!less) less = WithoutLocalObjects(of);
    if (!less) less = WithoutIndexVectors(of);
    if (!less) less = WithCallsInlined(of);
    if (!less) less = WithoutSharedPointers(of);
    if (!less) less = WithConditionalSums(of);
    if (!less) less = WithWideVariables(of);
    if (!less) less = WithoutBytePointers(of);
    if (!less) less = WithPlainInitialisers(of);
    return less ? less : WithPlainLoops(of);
  };
  text = without_calls(tree);
  for (int round = 0; text && round < kMostInlinedCalls; ++round) {
    auto next = Next(plain ? *plain : tree, *text);
    if (!next) break;
    plain = std::move(next);
    text = without_calls(*plain);
  }
  text = WithoutMovingPointers(plain ? *plain : tree);
  for (int round = 0; text && round < kMostInlinedCalls; ++round) {
    auto next = Next(plain ? *plain : tree, *text);
    if (!next) break;
    plain = std::move(next);
    text = WithoutMovingPointers(*plain);
  }
  if (plain) Remember(*plain, false);
  return plain;
}

void SyntaxParser::State::Remember(SyntaxTree& tree, bool has_plain) {
  tree.parse_ = [self = weak_from_this()](const std::string& text) {
    const auto state = self.lock();
    if (!state) return std::shared_ptr<SyntaxTree>();
    auto other = std::make_shared<SyntaxTree>(state->Parse(text));
    state->Remember(*other, false);
    return other;
  };
  if (has_plain)
    tree.find_plain_ = [self = weak_from_this()](const SyntaxTree& one) {
      const auto state = self.lock();
      return state ? state->PlainOf(one) : nullptr;
    };
}

SyntaxTree SyntaxParser::Parse(const std::string& text) {
  SyntaxTree tree = state_->Parse(text);
  state_->Remember(tree, true);
  return tree;
}

}  // namespace evo
