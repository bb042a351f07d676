# SPDX-License-Identifier: GPL-2.0-only
"""What a recorded suspend says of the devices, and what ``lull graph`` makes of it.

Pure. The collector traces; what else the analyser wants to know of the machine is
added here as comments of its dialect.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from errno import errorcode

from lull.doctor.read_power import Device
from lull.errors import NoRecording, UsageError
from lull.graph.analysis import Analysis, analyse
from lull.graph.edits import parse
from lull.graph.ftrace import read
from lull.graph.recording import Callback
from lull.graph.whatif import predict
from lull.trees.model import Phase

#: So many callbacks are kept, the longest.
_LONGEST = 5


@dataclass(frozen=True)
class About:
    """The machine: ``rules`` is the mode of Lull's feature devices, "" without it."""

    kernel: str
    rules: str
    devices: tuple[Device, ...]


@dataclass(frozen=True)
class Call:
    """A callback: ``error`` is the errno's name of one that failed."""

    device: str
    driver: str
    phase: str
    ms: float
    error: str = ""


@dataclass(frozen=True)
class Recorded:
    """One cycle: the phases, in their order; the longest callbacks; who failed.

    ``saved_ms`` is what mode lull of devices would take off, by the model, as far as
    that tells this very recording; None of a cycle that was not whole. ``caveats`` are
    the analyser's.
    """

    phases_ms: dict[str, float]
    longest: tuple[Call, ...]
    failed: tuple[Call, ...]
    saved_ms: tuple[float, float] | None
    caveats: tuple[str, ...]

    @property
    def down_ms(self) -> float:
        """Of the phases of suspend."""
        return sum(ms for name, ms in self.phases_ms.items() if Phase(name).down)

    @property
    def up_ms(self) -> float:
        """Of the phases of resume."""
        return sum(self.phases_ms.values()) - self.down_ms


def read_recording(trace: str, about: About) -> Recorded | None:
    """The last whole cycle of a trace; None where there is none to read."""
    if not trace.strip():
        return None
    text = f"{_header(about)}{trace}\n{_devinfo(about.devices)}"
    try:
        found = analyse(read(text.encode("utf-8", "surrogateescape"), "the recording"))
    except (NoRecording, UsageError):
        return None
    calls = sorted(found.cycle.callbacks, key=lambda call: -call.us)
    return Recorded(
        {str(phase): span.ms for phase, span in found.cycle.spans.items()},
        tuple(_call(call) for call in calls[:_LONGEST]),
        tuple(_call(call) for call in calls if call.err),
        _saved(found),
        tuple(str(caveat) for caveat in found.caveats),
    )


def _header(about: About) -> str:
    rules = f"# lull-rules: {about.rules}\n" if about.rules else ""
    return f"# lull-kernel: {about.kernel}\n{rules}"


def _devinfo(devices: Iterable[Device]) -> str:
    """power/async of each, as pm-graph appends it."""
    named = {device.path.rsplit("/", 1)[-1]: device.async_ for device in devices}
    rows = [f"{name},,{on:d}" for name, on in named.items() if not {*",;"} & {*name}]
    packed = base64.b64encode(zlib.compress(";".join(rows).encode()))
    return f"# platform-devinfo: {packed.decode()}\n"


def _call(call: Callback) -> Call:
    error = errorcode.get(-call.err, str(call.err)) if call.err else ""
    return Call(call.device, call.driver, str(call.phase), call.us / 1e3, error)


def _saved(found: Analysis) -> tuple[float, float] | None:
    """By the model, give or take what it is off in telling what was recorded."""
    if not found.cycle.complete:
        return None
    edits = parse("mode=lull")
    rows = predict(found.graph, found.kernel, edits, found.paths)
    saved = sum(row.before_us - row.after_us for row in rows) / 1e3
    off = sum(abs(r.predicted_us - r.measured_us) for r in found.replays()) / 1e3
    total = sum(span.ms for span in found.cycle.spans.values())
    return max(0.0, saved - off), min(total, max(0.0, saved + off))
