"""What one database of `evo run` says of its latest run. docs/database.md describes the tables."""
import json
import math
import os
import sqlite3

# As engine/champion.cc has it: the standard error of a median, and sigma from the 10% and 90% quantiles.
MEDIAN_EFFICIENCY = 1.2533
QUANTILE_SPREAD = 2.563


class Run:
    """Empty (status None) if the file is none or holds no run."""

    def __init__(self, file):
        self.file, self.status = file, None
        try:
            self.db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
            row = self.db.execute("SELECT run, status, status_message, options FROM run ORDER BY run DESC LIMIT 1").fetchone()
        except sqlite3.Error:
            row = None
        if row:
            self.number, self.status, self.message, self.options = row[0], row[1], row[2], json.loads(row[3])

    def close(self):
        self.db.close()

    def scores(self):
        """Of every candidate that the search evaluated, in their order; None where it failed, in a check as a champion as well."""
        return [score for (score,) in self.db.execute(
            "SELECT CASE WHEN e.outcome = 'ok' AND coalesce(v.verdict, '') <> 'failed' THEN e.score_ns END FROM candidate AS c "
            "JOIN evaluation AS e USING (run, candidate) LEFT JOIN verdict AS v USING (run, candidate) "
            "WHERE c.run = ? AND c.operator <> 'minimise' ORDER BY c.candidate", (self.number,))]

    def best_after(self, evaluations):
        """Microseconds; nan if nothing was ok by then."""
        found = [score for score in self.scores()[:evaluations] if score is not None]
        return min(found) / 1000 if found else math.nan

    def speedup(self):
        """Of the run's best over its baseline, interleaved; nan if it was not checked."""
        row = self.db.execute("SELECT speedup FROM best WHERE run = ?", (self.number,)).fetchone()
        return row[0] if row and row[0] is not None else math.nan

    def edits(self):
        row = self.db.execute("SELECT json_array_length(c.genome, '$.edits') FROM best AS b JOIN candidate AS c USING (run, candidate) WHERE b.run = ?",
                              (self.number,)).fetchone()
        return row[0] if row else 0

    def minimised(self):
        """(edits before, edits after, time after over before, its standard error), times over the baseline's; None if nothing was minimised."""
        row = self.db.execute("SELECT champion, candidate FROM minimised WHERE run = ? ORDER BY champion DESC LIMIT 1", (self.number,)).fetchone()
        if not row:
            return None
        counts = [self.db.execute("SELECT json_array_length(genome, '$.edits') FROM candidate WHERE run = ? AND candidate = ?", (self.number, c)).fetchone()[0]
                  for c in row]
        before, after = self.over_baseline(row[0]), self.over_baseline(row[1])
        if row[0] == row[1] or not before or not after:
            return counts[0], counts[1], 1.0 if row[0] == row[1] else math.nan, 0.0
        return counts[0], counts[1], after[0] / before[0], after[0] / before[0] * math.hypot(after[1], before[1])

    def over_baseline(self, candidate):
        """(time over the baseline's, relative standard error) from the candidate's latest check."""
        row = self.db.execute("SELECT champion_check FROM latest_check WHERE run = ? AND candidate = ? AND outcome = 'ok'", (self.number, candidate)).fetchone()
        if not row:
            return None
        log, variance, weights = 0.0, 0.0, 0.0
        sides = {side: self.db.execute("SELECT weight, median_ns, p10_ns, p90_ns, length(samples) / 4, tick_ns FROM champion_case "
                                       "WHERE champion_check = ? AND side = ? ORDER BY position", (row[0], side)).fetchall() for side in ("candidate", "baseline")}
        for sign, side in ((1, "candidate"), (-1, "baseline")):
            for weight, median, p10, p90, samples, tick in sides[side]:
                spread = max(((p90 or median) - (p10 or median)) / QUANTILE_SPREAD, tick / math.sqrt(12))
                log += sign * weight * math.log(median)
                variance += (weight * MEDIAN_EFFICIENCY * spread / median) ** 2 / max(5, samples or 0)
                weights += weight / 2
        return math.exp(log / weights), math.sqrt(variance) / weights


def databases(places):
    """Of files and folders, the files; what is in a folder by name."""
    for place in places:
        if not os.path.isdir(place):
            yield place
            continue
        for folder, _, files in sorted(os.walk(place)):
            yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".db"))
