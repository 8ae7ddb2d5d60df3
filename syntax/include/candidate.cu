// Stands for the source that is parsed: the parser gives its text from memory, but libclang precompiles a preamble only for a main
// file that exists.
