#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace evo::testing {

// A stream that keeps what is written to it.
class CapturedOutput {
 public:
  CapturedOutput() : stream_(open_memstream(&text_, &size_)) {}
  ~CapturedOutput() {
    std::fclose(stream_);
    std::free(text_);
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  std::FILE* stream() { return stream_; }
  std::string Text() {
    std::fflush(stream_);
    return text_ == nullptr ? std::string() : std::string(text_, size_);
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

}  // namespace evo::testing
