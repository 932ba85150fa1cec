# SPDX-License-Identifier: Apache-2.0
"""One line a figure: name, value, unit, target, met or missed, the peer beside it, the spread."""


class Samples:
    """Measured values of one thing; percentiles by the nearest rank."""

    def __init__(self, values):
        self.sorted = sorted(values)

    def percentile(self, percent):
        rank = -(-len(self.sorted) * percent // 100)
        return self.sorted[max(rank, 1) - 1]

    def spread(self):
        return " ".join(f"p{percent}={self.percentile(percent):.2f}" for percent in (50, 95, 99)) + \
            f" max={self.sorted[-1]:.2f} n={len(self.sorted)}"


def figure(name, value, unit, target, peer=None, note=""):
    """Says a figure whose target is a ceiling. PEER is (name, value in the same unit)."""
    line = f"{name} value={value:.2f} unit={unit} target={target:.2f} {'met' if value <= target else 'missed'}"
    if peer:
        line += f" peer={peer[0]} peer_value={peer[1]:.2f} ratio={value / peer[1]:.2f}"
    print(f"{line} {note}".rstrip(), flush=True)


def plain(name, value, unit, note=""):
    """A figure that has no target: a peer, or something to compare later runs with."""
    print(f"{name} value={value:.2f} unit={unit} {note}".rstrip(), flush=True)
