#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "mutators/breeding/edit_application.h"
#include "mutators/breeding/genome_renderer.h"
#include "mutators/mutator_set.h"
#include "platform/installation.h"
#include "platform/user_cache.h"

namespace evo {

inline SyntaxPaths TestPaths() {
  return {CudaRoot().value(), ShareDirectory() / "clang", ShareDirectory() / "syntax", UserCacheFolder()};
}

// One renderer for the whole test program, because only its first parse is slow. It remembers all sources of a folder of kernels,
// so that each mutator finds what others have found out about them.
inline GenomeRenderer& SharedRenderer() {
  // Never destroyed, because libclang's globals would be destroyed before it.
  static auto* const renderer = new GenomeRenderer(TestPaths(), {.trees = 1024, .parsers = 12});
  return *renderer;
}

inline Genome DefaultGenome(const KernelTemplate& kernel_template) {
  return {kernel_template.name, kernel_template.digest, kernel_template.space.Defaults(), {}};
}

// A parent with everything that a mutator may look at.
struct Parent {
  explicit Parent(const std::string& text) : Parent(ParseTemplate("small", text)) {}
  explicit Parent(KernelTemplate t) : kernel_template(std::move(t)), genome(DefaultGenome(kernel_template)) { Render(); }
  Parent(KernelTemplate t, Genome g) : kernel_template(std::move(t)), genome(std::move(g)) { Render(); }

  void Render() {
    rendering = SharedRenderer().Render(kernel_template, genome);
    tree = SharedRenderer().TreeOf(rendering.source);
    rendered = ParseTemplate(kernel_template.name, rendering.source);
  }
  MutationContext Context() const { return {kernel_template, genome, *tree, rendered}; }

  KernelTemplate kernel_template;
  Genome genome;
  RenderedGenome rendering;
  std::shared_ptr<const SyntaxTree> tree;
  KernelTemplate rendered;
};

inline const SourceMutator& SourceMutatorNamed(const std::string& name) {
  static const MutatorSet set;
  return dynamic_cast<const SourceMutator&>(*set.Find(name));
}

// Why a mutator leaves the kernels of a source as they are.
inline std::vector<std::string> RefusalsOf(const std::string& mutator, const std::string& text) {
  return SourceMutatorNamed(mutator).Refusals(Parent(ParseTemplate("kernel", text)).Context());
}

// The text with `to` in the place of the first `from`, which must be there.
inline std::string With(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// All children that a mutator can make from a source, in the order of its proposals. Each edit must apply, and each child must
// parse.
inline std::vector<std::string> ChildrenOf(const std::string& mutator, const std::string& text) {
  const Parent parent(text);
  EXPECT_TRUE(parent.tree->errors().empty()) << parent.tree->errors().front();
  std::vector<std::string> children;
  for (const Proposal& proposal : SourceMutatorNamed(mutator).Proposals(parent.Context())) {
    const AppliedEdit applied =
        ApplyEdit(*parent.tree, parent.genome.parameters, SourceMutatorNamed(mutator).EditOf(parent.Context(), proposal));
    EXPECT_EQ(applied.dropped, "");
    const auto tree = SharedRenderer().TreeOf(applied.text);
    EXPECT_TRUE(tree->errors().empty()) << mutator << ": " << tree->errors().front() << "\n" << applied.text;
    children.push_back(applied.text);
  }
  return children;
}

inline bool AnyContains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& t) { return t.find(part) != std::string::npos; });
}

// The first of so many children that a mutator can make from a source; empty if there are none.
inline std::string FirstChildOf(const std::string& mutator, const std::string& source, std::size_t children) {
  const std::vector<std::string> made = ChildrenOf(mutator, source);
  EXPECT_EQ(made.size(), children) << source << testing::PrintToString(RefusalsOf(mutator, source));
  return made.empty() ? "" : made.front();
}

// Why a mutator makes no child of a source; empty if it does not say why.
inline std::string WhyNoChildOf(const std::string& mutator, const std::string& source) {
  EXPECT_TRUE(ChildrenOf(mutator, source).empty()) << source;
  const std::vector<std::string> refusals = RefusalsOf(mutator, source);
  return refusals.empty() ? "" : refusals.front();
}

}  // namespace evo
