"""The model card: README.md and calibration.svg of a model package, from measured figures.

    card.py --package model --figures FIGURES.json [--int8 FIGURES.json] [--before FIGURES.json] --data MANIFEST.json --notes NOTES.md

FIGURES.json are of evaluate.py, MANIFEST.json lists the data sets with origin and licence, NOTES.md says in words what the
figures cannot: how it was trained, what it is good and bad at.
"""
import argparse
import json
import pathlib

from plot import calibration_svg


def percent(share):
    return f"{100 * share:.1f}"


def table(head, rows):
    line = lambda cells: "| " + " | ".join(str(c) for c in cells) + " |"
    return "\n".join([line(head), line("---" for _ in head), *(line(row) for row in rows)])


def groups_table(name, groups):
    return table((name, "decisions", "accuracy %", "calibration error"), [(key, f["n"], percent(f["accuracy"]), f"{f['ece']:.3f}") for key, f in groups.items()])


def sets_table(figures, before):
    head = ("set", "decisions", "accuracy %", *(("before %",) if before else ()), "calibration error")
    old = lambda name: (percent(before["sets"][name]["accuracy"]),) if before else ()
    return table(head, [(name, f["n"], percent(f["accuracy"]), *old(name), f"{f['ece']:.3f}") for name, f in sorted(figures["sets"].items())])


def overall(figures):
    everything = figures["all"]
    return (percent(figures["mean_accuracy"]), percent(everything["accuracy"]), f"{everything['ece']:.3f}", f"{everything['nll']:.3f}")


def card(manifest, parameters, figures, others, data, notes):
    """others: {name: figures} to compare with. -> Markdown"""
    shape = manifest["architecture"]
    versions = [("this model", *overall(figures)), *((name, *overall(f)) for name, f in others.items())]
    sources = [(name, f["source"], f["licence"], f["train"]["n"]) for name, f in data["datasets"].items() if "train" in f]
    return "\n\n".join([
        f"# {manifest['aliases'][1]} {manifest['version']}", manifest["description"],
        f"`{manifest['id']}`, {manifest['release_date']}. {parameters / 1e6:.1f}M parameters: {shape['layers']} layers of width {shape['hidden']}, "
        f"{shape['heads']} heads, inner width {shape['inner']}. State and question may have {manifest['limits']['max_state_question_tokens']} tokens "
        f"together, a candidate {manifest['limits']['max_candidate_tokens']}.",
        notes.strip(),
        "## Figures", f"On {figures['all']['n']} decisions of the development set, none of which was trained on. The mean is over its "
        f"{len(figures['sets'])} sets, each weighing the same. The calibration error is the expected one over 15 bins of equal width, of the probability "
        "of the chosen candidate.",
        table(("", "mean over sets %", "accuracy %", "calibration error", "negative log-likelihood"), versions),
        "![Calibration: accuracy over probability](calibration.svg)", groups_table("type", figures["types"]),
        groups_table("candidates", figures["candidates"]), sets_table(figures, others.get("before")),
        "## Data", "Decisions derived from these data sets, each under its own licence; none of them is part of the package.",
        table(("set", "source", "licence", "decisions"), sources)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("package", "figures", "data", "notes"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("before", "int8"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    options = parser.parse_args()
    read = lambda path: json.loads(path.read_text(encoding="utf-8"))
    figures, manifest = read(options.figures), read(options.package / "manifest.json")
    others = {name: read(path) for name, path in (("before", options.before), ("int8", options.int8)) if path}
    size = (options.package / "model.safetensors").stat().st_size
    text = card(manifest, size / 2, figures, others, read(options.data), options.notes.read_text(encoding="utf-8"))
    (options.package / "README.md").write_text(text, encoding="utf-8")
    (options.package / "calibration.svg").write_text(calibration_svg(figures["curve"], "Calibration on the development set"), encoding="utf-8")


if __name__ == "__main__":
    main()
