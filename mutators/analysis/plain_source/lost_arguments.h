#pragma once

#include "syntax/syntax_tree.h"

namespace evo {

// A template with one list of arguments is a function of the same name in the source that is written out, and calls of it have no
// arguments left. This knows where a compiler would not deduce the same ones, so that a changed body needs the function itself.
class LostArguments {
 public:
  // The trees outlive the object.
  LostArguments(const SyntaxTree& source, const SyntaxTree& plain) : source_(source), plain_(plain) {}

  // `function`: of the source that is written out; `counterpart`: of the source, -1 if there is none.
  bool LosesArguments(int function, int counterpart) const;

 private:
  const SyntaxTree& source_;
  const SyntaxTree& plain_;
};

}  // namespace evo
