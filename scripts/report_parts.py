"""What the scripts that write measurements into docs/ share: tables, plots, and the places of a
document that they fill."""

import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = pathlib.Path(sys.argv[0]).name


def seconds(value):
    if value >= 600:
        return f"{value / 60:.3g} min"
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def table(header, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, *rows]]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])


def write_part(document, part, text):
    """Puts the text between <!-- PART --> and <!-- /PART -->; the rest is written by hand."""
    pattern = rf"(<!-- {part} -->\n).*?(<!-- /{part} -->)"
    changed, count = re.subn(pattern, lambda m: f"{m[1]}\n{text}\n\n{m[2]}", document.read_text(),
                             flags=re.S)
    if count != 1:
        sys.exit(f"{SCRIPT}: {document.name} has no place for '{part}'")
    document.write_text(changed)


class Axes:
    """Devices to the right and times up, both logarithmic, over whole decades of seconds; y points
    down, as in SVG. Curves may end before the last number of devices."""
    LEFT, RIGHT, TOP, BOTTOM = 70, 690, 50, 390

    def __init__(self, devices, times, tick=lambda time: f"{time:g} s"):
        self.devices, self.tick = devices, tick
        self.low = math.floor(math.log10(min(times)))
        self.high = math.ceil(math.log10(max(times)))

    def x(self, devices):
        share = math.log(devices / self.devices[0]) / math.log(self.devices[-1] / self.devices[0])
        return round(self.LEFT + share * (self.RIGHT - self.LEFT), 1)

    def y(self, time):
        share = (math.log10(time) - self.low) / (self.high - self.low)
        return round(self.BOTTOM - share * (self.BOTTOM - self.TOP), 1)

    def grid(self):
        for power in range(self.low, self.high + 1):
            y = self.y(10 ** power)
            yield f'<line class="grid" x1="{self.LEFT}" x2="{self.RIGHT}" y1="{y}" y2="{y}"/>'
            yield label(self.LEFT - 8, y + 4, "end", self.tick(10.0 ** power))
        for devices in self.devices:
            x = self.x(devices)
            yield f'<line class="grid" x1="{x}" x2="{x}" y1="{self.TOP}" y2="{self.BOTTOM}"/>'
            yield label(x, self.BOTTOM + 18, "middle", f"{devices:,}")

    def line(self, kind, times):
        points = " ".join(f"{self.x(d)},{self.y(t)}" for d, t in zip(self.devices, times))
        return f'<polyline class="{kind}" points="{points}"/>'

    def dots(self, times, kind=None):
        return [f'<circle{classed(kind)} cx="{self.x(d)}" cy="{self.y(t)}" r="4"/>'
                for d, t in zip(self.devices, times)]


def classed(kind):
    return f' class="{kind}"' if kind else ""


def label(x, y, anchor, text, kind=None):
    return f'<text{classed(kind)} x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>'


def plot(axes, title, style, curves, width=720):
    """The SVG file. The curves, their dots and labels are elements; the style has their classes."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 440" width="{width}" '
        'height="440">',
        "<style>",
        "  text { font: 13px sans-serif; fill: #444 }",
        "  .title { font-size: 15px; fill: #222 }",
        "  .grid { stroke: #e4e4e4 }",
        "  polyline { fill: none; stroke-width: 2 }",
        f"{style}</style>",
        f'<rect width="{width}" height="440" fill="#fff"/>',
        f'<text class="title" x="70" y="28">{title}</text>',
        *axes.grid(), *curves,
        label((axes.LEFT + axes.RIGHT) // 2, axes.BOTTOM + 40, "middle", "devices"),
        "</svg>", ""])
