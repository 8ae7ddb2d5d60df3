#include "engine/operator_selection.h"

#include <algorithm>
#include <cmath>

namespace evo {
namespace {

// Reward of a valid child whose program is new, in addition to its gain: as much as a gain of 2%. Without it, operators that only
// break kernels would be drawn as often as those that explore, whenever no operator gains.
constexpr double kFreshReward = 0.02;
// The expected reward of a child before anything is known: one that is usual at the start of a run.
constexpr double kUsualReward = 0.05;
// The defaults weigh as much as so many children of each operator.
constexpr double kPriorChildren = 8;
constexpr double kMostEarlierChildren = 20;
// What is expected of an operator on parents with one bottleneck weighs as much as so many of its children there.
constexpr double kReliefChildren = 8;
// A child that takes this much longer than its parent explores nothing: it gets no reward for being new.
constexpr double kMuchSlower = 1.05;
// Weight of rewards after one more generation: half after 23. Operators that pay for a naive kernel do not pay for a good one.
constexpr double kKept = 0.97;
// A draw is not yet a child: if few operators apply, they are drawn again in place of the others. An operator that makes more
// children than this part of the cap is drawn less often, so that its share settles below the cap.
constexpr double kThrottledFrom = 0.8;
constexpr int kThrottlePower = 6;  // steep: at the cap a quarter of the draws are left

double Reward(const OperatorReward& rewards) { return rewards.log_gain + kFreshReward * rewards.fresh; }

void Scale(OperatorReward& reward, double factor) {
  reward.tries *= factor;
  reward.fresh *= factor;
  reward.log_gain *= factor;
}

OperatorReward AtMost(OperatorReward earlier) {
  if (earlier.tries > 0) Scale(earlier, std::min(1.0, kMostEarlierChildren / earlier.tries));
  return earlier;
}

double MostShare(std::size_t operators) {
  const auto n = static_cast<double>(operators);
  return n * OperatorSelection::kMostShare > 1 ? OperatorSelection::kMostShare : std::min(1.0, 2 / n);
}

// Cuts the shares to the cap and gives the excess to the others in proportion. Precondition: shares sum to 1, cap * size >= 1.
void Cap(std::vector<double>& shares, double cap) {
  std::vector<bool> full(shares.size(), false);
  for (bool again = true; again;) {
    again = false;
    double left = 1;
    double rest = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (full[i])
        left -= cap;
      else
        rest += shares[i];
    }
    for (std::size_t i = 0; i < shares.size() && rest > 0; ++i) {
      if (full[i]) continue;
      shares[i] *= left / rest;
      if (shares[i] > cap) full[i] = again = true;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (full[i]) shares[i] = cap;
    }
  }
}

}  // namespace

OperatorSelection::OperatorSelection(const std::map<std::string, double>& defaults,
                                     const std::map<std::string, OperatorReward>& earlier,
                                     std::optional<BottleneckKnowledge> known)
    : by_bottleneck_(known.has_value()) {
  double sum = 0;
  for (const auto& [name, weight] : defaults) {
    if (!(weight > 0)) continue;
    sum += weight;
    Operator& op = operators_.emplace_back();
    op.name = name;
    op.weight = weight;
    if (const auto before = earlier.find(name); before != earlier.end()) op.rewards = AtMost(before->second);
  }
  for (Operator& op : operators_) op.weight *= static_cast<double>(operators_.size()) / sum;
  if (!known) return;
  restructuring_.insert(known->restructuring.begin(), known->restructuring.end());
  for (const auto& [bottleneck, factors] : known->relief) {
    for (const auto& [name, factor] : factors) {
      if (Operator* op = Find(name)) op->relief[bottleneck] = factor;
    }
  }
  for (const auto& [spelling, rewards] : known->earlier) {
    const auto bottleneck = ParseBottleneck(spelling);
    if (!bottleneck) continue;  // of a newer version
    for (const auto& [name, reward] : rewards) {
      if (Operator* op = Find(name)) op->on[*bottleneck] = AtMost(reward);
    }
  }
}

OperatorSelection::Operator* OperatorSelection::Find(const std::string& name) {
  const auto found = std::lower_bound(operators_.begin(), operators_.end(), name,
                                      [](const Operator& op, const std::string& n) { return op.name < n; });
  return found != operators_.end() && found->name == name ? &*found : nullptr;
}

void OperatorSelection::Learn(const GenerationRecord& record) {
  for (Operator& op : operators_) {
    Scale(op.rewards, kKept);
    for (auto& [bottleneck, rewards] : op.on) Scale(rewards, kKept);
    for (auto& [bottleneck, slower] : op.slower) slower *= kKept;
  }
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    const Candidate& child = record.candidates[i];
    const Evaluation& evaluation = record.evaluations[i];
    if (evaluation.outcome == Outcome::kCancelled) continue;
    const bool valid = evaluation.outcome == Outcome::kOk;
    if (valid) known_[child.id] = {evaluation.program_digest, evaluation.score_ns, evaluation.bottleneck};
    Operator* op = Find(child.op);
    const auto parent = child.parents.empty() ? known_.end() : known_.find(child.parents.front());
    if (op == nullptr || parent == known_.end()) continue;
    const bool neutral = !evaluation.program_digest.empty() && evaluation.program_digest == parent->second.program;
    AddChild(op->rewards, valid && !neutral, parent->second.score_ns, evaluation.score_ns);
    if (by_bottleneck_ && parent->second.bottleneck != Bottleneck::kNone) {
      AddChild(op->on[parent->second.bottleneck], valid && !neutral, parent->second.score_ns, evaluation.score_ns);
      if (by_structure() && valid && !neutral && evaluation.score_ns > kMuchSlower * parent->second.score_ns)
        ++op->slower[parent->second.bottleneck];
    }
    ++op->children;
  }
  // Children of this generation were drawn by the class that their parents had before.
  for (const CountedElite& one : record.counted) {
    if (const auto known = known_.find(one.candidate); known != known_.end()) known->second.bottleneck = one.bottleneck;
  }
}

Bottleneck OperatorSelection::BottleneckOf(CandidateId parent) const {
  const auto known = known_.find(parent);
  return by_bottleneck_ && known != known_.end() ? known->second.bottleneck : Bottleneck::kNone;
}

const OperatorSelection::Parent* OperatorSelection::Known(CandidateId parent) const {
  const auto known = known_.find(parent);
  return known == known_.end() ? nullptr : &known->second;
}

// The expected reward of a child of each operator.
std::vector<double> OperatorSelection::Expected() const {
  // The mean over operators, not over children: one that was tried often must not change what is expected of those that were not.
  double usual = 0;
  for (const Operator& op : operators_) {
    usual += (Reward(op.rewards) + kPriorChildren * kUsualReward) / (op.rewards.tries + kPriorChildren) /
             static_cast<double>(operators_.size());
  }
  std::vector<double> expected;
  for (const Operator& op : operators_)
    expected.push_back((Reward(op.rewards) + kPriorChildren * usual * op.weight) / (op.rewards.tries + kPriorChildren));
  return expected;
}

// What is expected on parents with this bottleneck. Before there are children of such parents, it is what is expected on all
// times the relief, with the same sum over all operators.
void OperatorSelection::Adapt(std::vector<double>& expected, Bottleneck bottleneck) const {
  double sum = 0;
  double relieved = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto factor = operators_[i].relief.find(bottleneck);
    sum += expected[i];
    if (factor != operators_[i].relief.end()) expected[i] *= factor->second;
    relieved += expected[i];
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] *= sum / relieved;
    const auto on = operators_[i].on.find(bottleneck);
    if (on == operators_[i].on.end()) continue;
    const auto slower = operators_[i].slower.find(bottleneck);
    const double reward = Reward(on->second) - (slower == operators_[i].slower.end() ? 0 : kFreshReward * slower->second);
    expected[i] = (reward + kReliefChildren * expected[i]) / (on->second.tries + kReliefChildren);
  }
}

// In proportion to the expected reward of a child, within floor and cap.
std::vector<double> OperatorSelection::Shares(Bottleneck bottleneck) const {
  std::vector<double> shares = Expected();
  if (bottleneck != Bottleneck::kNone) Adapt(shares, bottleneck);
  double sum = 0;
  for (const double share : shares) sum += share;
  const double floor = kLeastShare / static_cast<double>(shares.size());
  for (double& share : shares) share = floor + (1 - kLeastShare) * share / sum;
  Cap(shares, MostShare(shares.size()));
  return shares;
}

std::vector<std::pair<std::string, double>> OperatorSelection::Weights(Bottleneck bottleneck) const {
  std::vector<std::pair<std::string, double>> weights;
  if (operators_.empty()) return weights;
  const std::vector<double> shares = Shares(bottleneck);
  const double cap = MostShare(shares.size());
  double children = kPriorChildren;  // so that no operator is throttled after the first children of a run
  for (const Operator& op : operators_) children += op.children;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double excess = operators_[i].children / children / (kThrottledFrom * cap);
    const double throttle = excess > 1 && cap < 1 ? std::pow(excess, -kThrottlePower) : 1;
    weights.emplace_back(operators_[i].name, shares[i] * throttle);
  }
  return weights;
}

}  // namespace evo
