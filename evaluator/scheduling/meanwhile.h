#pragma once

#include <functional>
#include <future>
#include <stop_token>
#include <utility>

namespace evo {

// Work that a thread of its own does while the owner does other work. Without a call of Get it is asked to stop, and waited for.
template <typename Result>
class Meanwhile {
 public:
  using Work = std::function<Result(const std::stop_token& stop)>;

  // `stop` ends the work, too.
  Meanwhile(const std::stop_token& stop, Work work)
      : forward_(stop, [this] { own_.request_stop(); }),
        result_(std::async(std::launch::async, [work = std::move(work), token = own_.get_token()] { return work(token); })) {}
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;
  ~Meanwhile() { own_.request_stop(); }

  // Once. Throws what the work threw.
  Result Get() { return result_.get(); }

 private:
  std::stop_source own_;
  std::stop_callback<std::function<void()>> forward_;
  std::future<Result> result_;  // last: its destructor waits
};

}  // namespace evo
