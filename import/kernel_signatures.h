#pragma once

#include <boost/describe.hpp>
#include <map>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

struct SignatureParameter {
  std::string written;  // "const float* X"
  std::string type;     // canonical: "const float *"; "type-parameter-0-0" is the kernel's first template parameter
};
BOOST_DESCRIBE_STRUCT(SignatureParameter, (), (written, type))

struct KernelSignature {
  std::string name;       // with its namespaces: "lib::k"
  bool doubtful = false;  // the parser did not understand its head, or is missing a type
  std::vector<SignatureParameter> parameters;
  std::vector<std::string> template_parameters;
};
BOOST_DESCRIBE_STRUCT(KernelSignature, (), (name, doubtful, parameters, template_parameters))

// What launch lines are compared with.
struct TemplateSignatures {
  std::vector<KernelSignature> kernels;
  std::map<std::string, std::vector<std::string>> structs;  // types of the fields in order; those of a struct within are in place
  std::map<std::string, std::string> types;                 // the canonical types that typedefs, aliases and macros stand for
};
BOOST_DESCRIBE_STRUCT(TemplateSignatures, (), (kernels, structs, types))

// Reads the kernels that a template defines. libclang may crash on the text, so this belongs in a worker process.
TemplateSignatures ReadSignatures(const std::string& text, SyntaxParser& parser);

}  // namespace evo
