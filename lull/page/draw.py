# SPDX-License-Identifier: GPL-2.0-only
"""Vega-Lite draws: a specification and its data become SVG for a page.

Vega-Lite is run by vl-convert, without a browser: a picture is markup that is
there without a script, on paper too, and takes about 3 kB. docs/page.md holds
it against the other libraries.

Colours are the page's own properties (``var(--ink)``), so that a picture is
light or dark as the page is.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

from lull.errors import CannotRun

#: A row of a dataset.
Datum = Mapping[str, str | float | None]
Spec = dict[str, Any]

_SVG = "http://www.w3.org/2000/svg"
_SIZE = "11px"  #: of most letters: said once
#: What is said once, or goes without saying.
_USUAL = {
    ("font-family", "inherit"),
    ("font-size", _SIZE),
    ("opacity", "1"),
    ("stroke-width", "1"),
}
_DROPPED = ("aria-hidden", "aria-roledescription", "role", "pointer-events", "class")
_MOVE = re.compile(r"translate\((-?[\d.e-]+),(-?[\d.e-]+)\)")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def svg(spec: Spec, data: Mapping[str, Sequence[Datum]]) -> str:
    """The picture. ``spec`` names its datasets, ``data`` has their rows.

    A specification is compiled once, whatever data it is drawn with. Raises
    CannotRun where the library is missing.
    """
    vega = json.loads(_compiled(json.dumps(spec, sort_keys=True), tuple(data)))
    for dataset in vega["data"]:
        if dataset["name"] in data:
            dataset["values"] = list(data[dataset["name"]])
    return compact(_library().vega_to_svg(vega))


def _library() -> ModuleType:
    # Not at the top: a run measures without it, too, and it is loaded when used.
    try:
        import vl_convert
    except ImportError as error:
        raise CannotRun(
            "the Python package vl-convert-python is missing", hint="make setup"
        ) from error
    return vl_convert


@lru_cache(maxsize=64)
def _compiled(spec: str, names: tuple[str, ...]) -> str:
    whole = {**json.loads(spec), "datasets": {name: [] for name in names}}
    return json.dumps(_library().vegalite_to_vega(whole))


def compact(markup: str) -> str:
    """The same picture in a fraction of the bytes, hidden from screen readers,
    which get the text and the table beside it.

    What Vega says of each part goes, empty parts go, numbers keep two decimals,
    and dots of one colour become one path.
    """
    root = ElementTree.fromstring(markup)
    for group in list(root.iter(f"{{{_SVG}}}g")):
        if "mark-symbol" in group.get("class", ""):
            _join_dots(group)
    _clean(root)
    for name in ("xmlns", "version", "width", "height"):
        root.attrib.pop(name, None)
    root.set("aria-hidden", "true")
    root.set("font-size", _SIZE.removesuffix("px"))
    ElementTree.register_namespace("", _SVG)
    text = ElementTree.tostring(root, encoding="unicode")
    text = text.replace(f' xmlns="{_SVG}"', "", 1)
    return text


def _join_dots(group: ElementTree.Element) -> None:
    """Dots as points of one line with round ends: 12 bytes each, not 150."""
    joined: defaultdict[tuple[str, str, float], list[str]] = defaultdict(list)
    for dot in list(group):
        place = _MOVE.fullmatch(dot.get("transform", ""))
        shape = dot.get("d", "")
        if not place or "A" not in shape or dot.get("stroke"):
            return
        radius = float(shape[1:].split(",")[0])
        key = (dot.get("fill", ""), dot.get("opacity", "1"), radius)
        x, y = (f"{float(value):.1f}" for value in place.groups())
        joined[key].append(f"M{x} {y}h0")
    group[:] = [
        ElementTree.Element(
            f"{{{_SVG}}}path",
            {
                "d": "".join(points),
                "stroke": colour,
                "stroke-width": f"{2 * radius:.3g}",
                "stroke-linecap": "round",
                "opacity": opacity,
            },
        )
        for (colour, opacity, radius), points in joined.items()
    ]


def _clean(node: ElementTree.Element) -> None:
    for name in _DROPPED:
        node.attrib.pop(name, None)
    for name, value in list(node.attrib.items()):
        if (name, value) in _USUAL:
            del node.attrib[name]
        elif name not in ("fill", "stroke", "font-family"):
            node.set(name, _NUMBER.sub(_short, value))
    if node.get("transform") == "translate(0,0)":
        del node.attrib["transform"]
    kept: list[ElementTree.Element] = []
    for child in list(node):
        _clean(child)
        # A group that says nothing of what is in it.
        bare = child.tag == f"{{{_SVG}}}g" and not child.attrib
        kept += list(child) if bare else [] if _empty(child) else [child]
    node[:] = kept


def _empty(node: ElementTree.Element) -> bool:
    kind = node.tag.removeprefix(f"{{{_SVG}}}")
    if kind == "g":
        return not len(node)
    if kind == "path":
        seen = node.get("fill") or node.get("stroke")
        return not node.get("d") or not seen or node.get("display") == "none"
    return kind == "text" and not (node.text or len(node))


def _short(found: re.Match[str]) -> str:
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
