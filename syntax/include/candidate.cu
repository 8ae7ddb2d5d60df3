// A placeholder for the source to be parsed. The parser passes the text from memory, but libclang precompiles a preamble only if the
// main file exists.
