"""One attention problem: its shape and kind, its inputs, the error of an output against double precision."""
import math
from dataclasses import dataclass
from pathlib import Path

import torch

TEMPLATES = Path(__file__).resolve().parent.parent.parent / "kernel_templates"
CHECKED_ROWS = 512
KINDS = {"causal", "bf16", "gqa"}
QUERY_HEADS_A_KEY_HEAD = 4   # of the task attention_gqa


@dataclass(frozen=True)
class Problem:
    batch: int
    heads: int
    length: int
    depth: int
    kinds: frozenset = frozenset()

    @staticmethod
    def parse(text):
        """B,H,S,D and any of causal, bf16, gqa (a key head for every four query heads). Raises ValueError."""
        parts = text.split(",")
        if len(parts) < 4 or not set(parts[4:]) <= KINDS or not all(p.isdigit() and int(p) > 0 for p in parts[:4]):
            raise ValueError(f"{text}: B,H,S,D expected, and behind them any of {', '.join(sorted(KINDS))}")
        problem = Problem(*map(int, parts[:4]), frozenset(parts[4:]))
        if problem.heads % problem.group:
            raise ValueError(f"{text}: with gqa, H is a multiple of {QUERY_HEADS_A_KEY_HEAD}")
        return problem

    def __str__(self):
        return ", ".join([str(n) for n in self.shape] + sorted(self.kinds))

    @property
    def shape(self):
        return self.batch, self.heads, self.length, self.depth

    @property
    def causal(self):
        return "causal" in self.kinds

    @property
    def group(self):
        return QUERY_HEADS_A_KEY_HEAD if "gqa" in self.kinds else 1

    @property
    def dtype(self):
        return torch.bfloat16 if "bf16" in self.kinds else torch.float16

    @property
    def sizes(self):
        """The sizes of the task by name."""
        return dict(zip("BHSD", self.shape))

    @property
    def task(self):
        """Name of the task that this is a case of. attention_gqa has rows of 128 elements."""
        name = "attention" + "".join("_" + kind for kind in ("causal", "bf16", "gqa") if kind in self.kinds)
        return name + ("_d128" if self.depth == 128 and "gqa" not in self.kinds else "")

    @property
    def folder(self):
        return TEMPLATES / self.task

    @property
    def operations(self):
        keys = (self.length + 1) / 2 if self.causal else self.length
        return 4 * self.batch * self.heads * self.length * keys * self.depth

    @property
    def bound(self):
        """On the relative L2 error: that of kernel_templates/tolerance.h for one intermediate rounding and a sum of S terms in fp32."""
        unit = 2.0 ** (-8 if "bf16" in self.kinds else -11)
        return 6 * math.sqrt(2 * unit ** 2 / 3 + 2.0 ** -48 * self.length / 6)

    def inputs(self, deviation=1.0, seed=0):
        """Q, K, V: normal, of that deviation."""
        torch.manual_seed(seed)
        keys = (self.batch, self.heads // self.group, self.length, self.depth)
        return [(torch.randn(shape, device="cuda") * deviation).to(self.dtype) for shape in (self.shape, keys, keys)]

    def error(self, q, k, v, out):
        """Of some rows, relative in the L2 norm, against double precision. NaN if any element of the whole output is not finite."""
        if not torch.isfinite(out).all():
            return float("nan")
        rows = torch.randperm(self.batch * self.heads * self.length, generator=torch.Generator().manual_seed(1))[:CHECKED_ROWS].to(q.device)
        head, row = rows // self.length, rows % self.length
        difference = total = 0.0
        for h in head.unique().tolist():
            mine = row[head == h]
            at = (h // self.heads, h % self.heads)
            key_at = (at[0], at[1] // self.group)
            scores = q[at][mine].double() @ k[key_at].double().T * self.depth ** -0.5
            if self.causal:
                scores.masked_fill_(torch.arange(self.length, device=q.device)[None, :] > mine[:, None], float("-inf"))
            truth = scores.softmax(-1) @ v[key_at].double()
            difference += (out[at][mine].double() - truth).square().sum().item()
            total += truth.square().sum().item()
        return (difference / total) ** 0.5
