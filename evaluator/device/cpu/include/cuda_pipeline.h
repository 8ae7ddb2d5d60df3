#pragma once

// Asynchronous copies on the cpu device: done at once. By words (4, 8 or 16 bytes are what there is), as the checked mode does
// not see what memcpy touches.
inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zero_fill = 0) {
  typedef unsigned __attribute__((may_alias)) Word;
  const size_t valid = bytes - zero_fill;
  for (size_t at = 0; at < bytes; at += sizeof(Word)) {
    Word word = 0;
    if (at + sizeof(Word) <= valid) {
      word = *reinterpret_cast<const Word*>(static_cast<const char*>(from) + at);
    } else {
      for (size_t i = at; i < valid; ++i) word |= static_cast<Word>(static_cast<const unsigned char*>(from)[i]) << (8 * (i - at));
    }
    *reinterpret_cast<Word*>(static_cast<char*>(to) + at) = word;
  }
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
