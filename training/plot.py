"""A calibration plot as SVG: accuracy against confidence, with the share of decisions below."""

SIZE, LEFT, TOP, BAND = 320, 52, 20, 60
STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #333 } .axis { stroke: #888; fill: none } .ideal { stroke: #999; stroke-dasharray: 4 4 }
.line { stroke: #0b62c4; stroke-width: 2; fill: none } .dot, .bar { fill: #0b62c4 } .bar { opacity: .45 } .back { fill: #fff }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .line { stroke: #6cb2ff } .dot, .bar { fill: #6cb2ff } .back { fill: #111 } }
</style>"""


def calibration_svg(curve, title):
    """curve: bins of metrics.curve. -> SVG text"""
    x = lambda share: LEFT + share * SIZE
    y = lambda share: TOP + (1 - share) * SIZE
    total = sum(b["n"] for b in curve)
    largest = max(b["n"] for b in curve)
    floor = TOP + SIZE + 30 + BAND
    points = [(x(b["confidence"]), y(b["accuracy"])) for b in curve]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + SIZE + 24} {floor + 48}" role="img" aria-label="{title}">', STYLE,
             '<rect class="back" width="100%" height="100%"/>', f'<rect class="axis" x="{x(0)}" y="{y(1)}" width="{SIZE}" height="{SIZE}"/>',
             f'<line class="ideal" x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}"/>',
             '<polyline class="line" points="' + " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>']
    for (a, b), bin_ in zip(points, curve):
        parts.append(f'<circle class="dot" cx="{a:.1f}" cy="{b:.1f}" r="3.5"><title>{bin_["n"]} decisions: confidence {bin_["confidence"]:.3f}, '
                     f'accuracy {bin_["accuracy"]:.3f}</title></circle>')
        height = BAND * bin_["n"] / largest
        parts.append(f'<rect class="bar" x="{x(bin_["from"]) + 1:.1f}" y="{floor - height:.1f}" width="{(bin_["to"] - bin_["from"]) * SIZE - 2:.1f}" height="{height:.1f}">'
                     f'<title>{bin_["n"] / total:.1%} of the decisions</title></rect>')
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<text x="{x(tick)}" y="{floor + 16}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4}" text-anchor="end">{tick:g}</text>')
    parts += [f'<text x="{x(0.5)}" y="{floor + 36}" text-anchor="middle">probability of the chosen candidate</text>',
              f'<text transform="translate(14 {y(0.5)}) rotate(-90)" text-anchor="middle">share that is right</text>',
              f'<text x="{LEFT}" y="{floor - BAND - 6}">decisions</text>', "</svg>"]
    return "\n".join(parts) + "\n"
