#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace evo {

// Ends the run. The message says in one line what happened, where, and what to do. Caught once, in cli/main. A bad candidate is
// never an Error.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user's request is invalid: a wrong option, or a malformed file given by name. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The user stopped the program (Ctrl-C) before there was anything to finish. Exit code 130.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace evo
