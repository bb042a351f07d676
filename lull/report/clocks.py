# SPDX-License-Identifier: GPL-2.0-only
"""What the clock insn counts, in the words that stand beside its figures."""

from __future__ import annotations

#: While a guest runs, its time is the count of its instructions; when all its CPUs
#: sleep, QEMU sets it to the next timer (``-icount shift=0,sleep=off``).
INSN = "executed instructions, 1 ns each, and time slept"
ASLEEP = "when nobody runs, the clock goes on to the next timer at once"
INSN_ALIKE = f"{INSN}, alike on every machine"
