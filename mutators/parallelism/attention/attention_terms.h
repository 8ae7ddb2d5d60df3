#pragma once

#include <string>

#include "mutators/analysis/attention/attention.h"

namespace evo {

// Parts of the texts of AttentionSource that depend on what is added to scores, and on which keys a row sees. The words in them
// that end with _ are such as there.
class AttentionTerms {
 public:
  // The attention must outlive the object.
  explicit AttentionTerms(const Attention& found) : found_(found) {}

  // What follows `first_key + TILE_KEYS_ >`: some of these rows of a warp do not see all keys of the tile.
  std::string Seen(const std::string& rows) const;
  // Whether a row, an expression, does not see `key`, whatever a mask says.
  std::string Hidden(const std::string& row) const;
  // Whether something is added to scores, or a mask hides some.
  bool has_scores() const { return found_.term.kind != ScoreTerm::Kind::kNone || found_.mask.any(); }
  // What makes of the sum of products `score`, of `row` and `key`, the score of the softmax; of powers of two, with the scale.
  std::string ScoreStep(const std::string& indent) const;
  // The same of powers of e. The scale is in the sum, and hidden keys are passed over.
  std::string FloatScoreStep(const std::string& indent) const;
  // How many keys a row sees behind its own number, as a term of a sum.
  std::string After() const { return found_.after.empty() ? "" : " + AFTER_"; }
  // The text whose loop over tiles or keys begins with the first key that the block's first row sees.
  std::string FromWindow(std::string text) const;
  // What of a term or a mask is the same for all rows and keys: lines for the beginning of the body.
  std::string Declarations() const;

 private:
  std::string Added() const;
  std::string Masked() const;

  const Attention& found_;
};

}  // namespace evo
