#pragma once

#include <boost/describe.hpp>
#include <map>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Asks for a task made of a CUDA program.
struct ImportRequest {
  std::string file;                            // its name, for messages and comments
  std::string text;                            // with its local headers (program_text.h)
  std::vector<std::string> line_files;         // of each line of the text, the file that it comes from
  std::vector<int> line_numbers;               // and the line there
  std::vector<std::string> kernels;            // to take; empty: the only one
  std::map<std::string, std::string> answers;  // to questions, by key
  bool python = false;                         // write a reference.py to fill in, instead of taking the baseline as the truth
};
BOOST_DESCRIBE_STRUCT(ImportRequest, (), (file, text, line_files, line_numbers, kernels, answers, python))

// What was guessed, or could not be known.
struct ImportQuestion {
  std::string key;       // "N", "Y.shape": for --set
  std::string guess;     // the answer taken without one
  std::string text;      // one line
  bool unknown = false;  // nothing in the program says it
};
BOOST_DESCRIBE_STRUCT(ImportQuestion, (), (key, guess, text, unknown))

struct ImportReply {
  std::string failure;                       // one line: why there is no task; else empty
  std::string task;                          // its name
  std::map<std::string, std::string> files;  // by name: task.json, KERNEL.cu, perhaps reference.py
  std::vector<ImportQuestion> questions;     // in the order in which they are best answered
  std::vector<std::string> notes;            // one line each: what else was decided
};
BOOST_DESCRIBE_STRUCT(ImportReply, (), (failure, task, files, questions, notes))

// Makes a task of the program. libclang may crash on the text, so this belongs in a worker process. Throws Error only if libclang
// cannot work at all; what is wrong with the request is a failure in the reply.
ImportReply Import(const ImportRequest& request, SyntaxParser& parser);

}  // namespace evo
