"""One reading of dropout in training mode, and what it says.

A reading is judged by itself: what is wrong with it has a word, or none (`OTHER`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SIGMAS = 7.0  # a right answer is rejected less than once in 10¹¹ grades
CLOSE = 1e-3
OTHER = "other"  # wrong in a way that has no name


@dataclass(frozen=True)
class Reading:
    """What training mode did to the attention weights at one dropout rate."""

    rate: float
    random: bool  # two calls with other seeds differ
    finite: bool
    zero_fraction: float  # share of weights that became 0
    kept_factor: float  # what the others were multiplied by
    kept_varies: bool  # they were not all multiplied by the same
    rows_sum_to_one: bool
    features_agree: bool  # with constant values all features of a position are alike
    features_dropped: bool  # and not in blocks either, as several heads would
    values_spared: bool  # weights were dropped, and the bias of the value layer passed by them
    whole_lines: bool  # rows or columns, or the same entries of all samples, are dropped together
    moved: bool  # training mode differs from eval mode
    entries: int
    masked: bool = False  # under a mask
    rate_followed: bool = False  # the share of dropped weights follows the rate, and is not the rate

    @property
    def tolerance(self) -> float:
        return SIGMAS * math.sqrt(self.rate * (1 - self.rate) / self.entries)

    @property
    def expected_factor(self) -> float:
        return 1 / (1 - self.rate)

    @property
    def right(self) -> bool:
        return self.fault is None

    @property
    def says(self) -> str:
        """What was measured, in words."""
        return f"under a mask, {self._says}" if self.masked else self._says

    @property
    def _says(self) -> str:
        dropped = f"{self.zero_fraction:.0%} of the weights became 0"
        if not self.finite:
            return "NaN in training mode"
        if not self.random:
            return (
                f"{dropped}, the same ones at every call"
                if self.moved
                else "nothing is dropped in training mode"
            )
        if not self.features_agree:
            if self.features_dropped:
                return "single features are dropped, not attention weights"
            return "blocks of features change each by themselves, as with several heads"
        if self.values_spared:
            return "the bias of the value layer is added where no dropped weight reaches it"
        if self.kept_varies:
            return f"{dropped}, the others changed by different factors"
        if self.whole_lines:
            return f"{dropped}, whole rows or columns of them at once"
        return f"{dropped}, the others were multiplied by {self.kept_factor:.3g}"

    @property
    def fault(self) -> str | None:
        """What is wrong, in a word that content has a label for, or OTHER; None when nothing is.

        "none" is dropped; the "output" or the "scores" are, in place of the weights; what is kept is
        "renormalised" or "not rescaled"; whole "lines" go at once; the rate is "inverted", applied "twice",
        or "another rate".
        """
        if not self.finite:
            return "scores"
        if not self.random:
            return OTHER if self.moved else "none"
        if not self.features_agree:
            return "output" if self.features_dropped else OTHER
        if self.zero_fraction < 0.01 and self.kept_varies:
            return "scores"
        if self.kept_varies:
            return "renormalised" if self.rows_sum_to_one else "scores"
        if self.whole_lines:
            return "lines"
        if self.rate_followed:
            return OTHER
        return self._wrong_number() or (OTHER if self.values_spared else None)

    def like(self, other: Reading) -> bool:
        """The same but for chance."""
        return (
            self.fault == other.fault
            and self.random == other.random
            and self.kept_varies == other.kept_varies
            and abs(self.zero_fraction - other.zero_fraction) <= self.tolerance + other.tolerance
            and (
                self.kept_varies or abs(self.kept_factor - other.kept_factor) <= CLOSE * self.expected_factor
            )
        )

    def _wrong_number(self) -> str | None:
        rate_fits = abs(self.zero_fraction - self.rate) <= self.tolerance
        factor_fits = abs(self.kept_factor - self.expected_factor) <= CLOSE * self.expected_factor
        if rate_fits and factor_fits:
            return None
        if abs(self.kept_factor - 1) <= CLOSE:
            return "not rescaled"
        inverted = abs(self.zero_fraction - (1 - self.rate)) <= self.tolerance
        if inverted and abs(self.kept_factor - 1 / self.rate) <= CLOSE / self.rate:
            return "inverted"
        if rate_fits:
            return OTHER  # the rate is the caller's; what becomes of the kept weights has no name
        twice = 1 - (1 - self.rate) ** 2
        grown_twice = abs(self.kept_factor - self.expected_factor**2) <= CLOSE * self.expected_factor**2
        if abs(self.zero_fraction - twice) <= self.tolerance and grown_twice:
            return "twice"
        return "another rate"


@dataclass(frozen=True)
class Finding:
    """A mistake in dropout: its label, where it has one, and what was measured at which rate."""

    mistake: str | None
    rate: float
    says: str = ""
    masked: bool = False  # without a mask nothing is wrong
    replayed: bool = False  # the label gives the training outputs exactly

    @property
    def expected_factor(self) -> float:
        return 1 / (1 - self.rate)
