// A worker with the vice that its argument names, for the tests of the pool.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "evaluator/worker_main.h"

namespace {

class Vicious : public evo::WorkerRole {
 public:
  evo::Message Handle(const evo::Message& job, evo::WorkerChannel& channel) override {
    const std::string vice = job.header.value("vice", "");
    channel.Begin("first");
    channel.Begin("second", job.header.value("wait", false));
    if (vice == "aborts") std::abort();
    if (vice == "exits") ::_exit(7);
    if (vice == "hangs") Sleep();
    if (vice == "floods stderr") Flood();
    if (vice == "prints") std::puts("a kernel's own words");
    if (vice == "throws") throw std::runtime_error("something is missing");
    if (vice == "forks") Fork();
    return {{{"pid", ::getpid()}, {"echo", job.bodies.empty() ? "" : job.bodies.front()}}, {}};
  }

 private:
  static void Sleep() {
    ::signal(SIGTERM, SIG_IGN);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  static void Flood() {
    for (int i = 0; i < 200'000; ++i) std::fputs("a line that nobody reads\n", stderr);
    ::_exit(3);
  }
  static void Fork() {
    if (::fork() == 0) Sleep();   // holds the pipes open
    ::_exit(4);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::string vice = argc > 1 ? argv[1] : "";
  if (vice == "never starts") {
    std::fputs("no such device\n", stderr);
    return 5;
  }
  if (vice == "speaks nonsense") {
    std::fputs("Hello, this is not the protocol you are looking for\n", stdout);
    std::fflush(stdout);
    ::pause();
  }
  return evo::WorkerMain({{"vicious", [](const nlohmann::json&) { return std::make_unique<Vicious>(); }}});
}
