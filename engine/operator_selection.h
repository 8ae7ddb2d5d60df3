#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/bottleneck.h"
#include "core/candidate.h"
#include "core/operator_reward.h"
#include "core/store.h"

namespace evo {

// Whether an operator sets parameters and leaves edits alone.
inline bool SetsParameters(const std::string& op) { return op.starts_with("parameter_"); }

// What is known of operators on parents with a bottleneck, before a run begins.
struct BottleneckKnowledge {
  // How many times the usual reward is expected of an operator; 1 where it is not named.
  std::map<Bottleneck, std::map<std::string, double>> relief;
  // In earlier runs; they count as at most 20 children of each operator and bottleneck.
  RewardsByBottleneck earlier;
  // Operators that divide the work of a kernel anew, once where they apply. Empty: structures make no difference.
  std::vector<std::string> restructuring = {};
};

// Decides how often each operator is drawn: probability matching (Goldberg 1990; Thierens 2005) with a floor and a cap. A
// function of the generations it was given, in their order: a run that is resumed draws as the whole one does.
class OperatorSelection {
 public:
  // What is known of a candidate that may be a parent.
  struct Parent {
    std::string program;  // digest
    double score_ns = 0;
    Bottleneck bottleneck = Bottleneck::kNone;
  };

  // No operator should make more than this share of the children. With fewer than 7 operators that is impossible, and the limit
  // is twice the even share.
  static constexpr double kMostShare = 0.15;
  // Every operator keeps at least this part of its even share of the draws.
  static constexpr double kLeastShare = 0.1;

  // `defaults` are the weights at the start; an operator of weight 0 is never drawn. `earlier` has the rewards of operators in
  // earlier runs, which count as at most 20 children of each.
  // Without `known` the bottlenecks of parents make no difference.
  explicit OperatorSelection(const std::map<std::string, double>& defaults,
                             const std::map<std::string, OperatorReward>& earlier = {},
                             std::optional<BottleneckKnowledge> known = std::nullopt);

  // Generations must come in order, from 0: parents are looked up in earlier ones. Operators that are not among the defaults are
  // ignored.
  void Learn(const GenerationRecord& record);

  // Weights of the next draws, positive, in the order of the names. Without any reward they are the defaults, within floor and
  // cap.
  std::vector<std::pair<std::string, double>> Weights() const { return Weights(Bottleneck::kNone); }
  // The same for children of a parent with this bottleneck; those of kNone are the weights for all parents.
  std::vector<std::pair<std::string, double>> Weights(Bottleneck bottleneck) const;

  // Whether the bottlenecks of parents make a difference.
  bool by_bottleneck() const { return by_bottleneck_; }
  // Whether the structures of parents make a difference.
  bool by_structure() const { return !restructuring_.empty(); }
  bool Restructures(const std::string& op) const { return restructuring_.contains(op); }
  // Of a candidate of a generation that was given; kNone if they make no difference.
  Bottleneck BottleneckOf(CandidateId parent) const;
  // The same candidate; null if it is not known, or was not ok. Valid until the next call of Learn.
  const Parent* Known(CandidateId parent) const;

 private:
  struct Operator {
    std::string name;
    double weight = 0;       // the default, relative to the mean of all
    OperatorReward rewards;  // older generations count for less
    double children = 0;     // in this run
    std::map<Bottleneck, double> relief;
    std::map<Bottleneck, OperatorReward> on;  // on parents with that bottleneck; part of `rewards`
    std::map<Bottleneck, double> slower;      // of the fresh ones of `on`, those that are much slower than their parents
  };
  std::vector<double> Expected() const;
  void Adapt(std::vector<double>& expected, Bottleneck bottleneck) const;
  std::vector<double> Shares(Bottleneck bottleneck) const;
  Operator* Find(const std::string& name);

  bool by_bottleneck_;
  std::set<std::string> restructuring_;
  std::vector<Operator> operators_;      // sorted by name
  std::map<CandidateId, Parent> known_;  // candidates that may be parents
};

}  // namespace evo
