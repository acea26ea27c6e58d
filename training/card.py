"""The model card: README.md, DATA.md and calibration.svg of a model package, from measured figures.

    card.py --package model --part TITLE=FIGURES.json[,BEFORE.json] ... --data MANIFEST.json ... --notes NOTES.md

FIGURES.json and BEFORE.json, those of an earlier model on the same decisions, are of evaluate.py or evaluate_served.py. MANIFEST.json lists the
data sets with origin and licence, NOTES.md has the prose: how the model was trained, and its strengths and weaknesses.
"""
import argparse
import json
import pathlib

import weights
from plot import calibration_svg


# sets of one language each; decks are named without their folder
LANGUAGES = {
    "German": ("germeval2018", "german-4"), "Spanish": ("spanish-4",), "French": ("french-4",), "Italian": ("squad_it",),
    "Portuguese": ("told_br", "clcd_pt"), "Indonesian": ("absa_id", "emot_id", "indonli", "smsa_id"), "European languages, mixed": ("languages", "languages-3", "languages-4", "languages-6"),
    "Japanese": ("jcommonsenseqa", "jnli_ja", "jsquad_ja", "jsts_ja"), "Korean": ("klue_nli_ko", "korean_hate", "sts_ko"), "Chinese": ("cmrc_zh",),
    "Thai": ("wisesight_th",), "Arabic": ("arcd_ar",), "Persian": ("farstail_fa",), "African languages": ("afrisenti",),
    "ten to seventy languages": ("xquad", "xcopa", "stsb_multi", "sib200_topics", "xsid_intents", "hatecheck_multi", "nusax", "xed_emotions"),
}


def percent(share):
    return f"{100 * share:.1f}"


def table(head, rows):
    line = lambda cells: "| " + " | ".join(str(c) for c in cells) + " |"
    return "\n".join([line(head), line("---" for _ in head), *(line(row) for row in rows)])


def groups_table(name, groups):
    return table((name, "decisions", "accuracy %", "calibration error"), [(key, f["n"], percent(f["accuracy"]), f"{f['ece']:.3f}") for key, f in groups.items()])


def overall(figures):
    everything, balance = figures["all"], figures["balance"].values()
    said = " / ".join("-" if share is None else percent(share) for share in balance)
    return (percent(figures["mean_accuracy"]), percent(everything["accuracy"]), f"{everything['ece']:.3f}", f"{everything['nll']:.3f}", said)


PARTS = ("decisions that no training saw", "decisions", "accuracy %", "before %", "calibration error", "true statements answered yes / false ones no %")


def parts_table(parts):
    """A row for each part; accuracy as a mean over sets. -> Markdown"""
    rows = []
    for title, now, before in parts:
        mean, _, error, _, said = overall(now)
        rows.append((title, now["all"]["n"], mean, overall(before)[0] if before else "-", error, said))
    return table(PARTS, rows)


def languages_table(sets):
    """sets: {name: (figures of a set, earlier figures or None)} of all parts"""
    rows = []
    for language, names in LANGUAGES.items():
        found = [sets[name] for name in names if name in sets]
        n = sum(now["n"] for now, _ in found)
        if n:
            mean = lambda which: percent(sum(pair[which]["accuracy"] * pair[which]["n"] for pair in found) / n) if all(pair[which] for pair in found) else "-"
            rows.append((language, ", ".join(name for name in names if name in sets), n, mean(0), mean(1)))
    return table(("language", "sets", "decisions", "accuracy %", "before %"), rows)


def card(manifest, parameters, parts, notes):
    """parts: [(title, figures, earlier figures or None)]. -> Markdown"""
    shape = manifest["architecture"]
    sets = {name: (f, (before or {"sets": {}})["sets"].get(name)) for _, figures, before in parts for name, f in figures["sets"].items()}
    return "\n\n".join([
        f"# {manifest['aliases'][1]} {manifest['version']}", manifest["description"],
        f"`{manifest['id']}`, {manifest['release_date']}. {parameters / 1e6:.1f}M parameters: {shape['layers']} layers of width {shape['hidden']}, "
        f"{shape['heads']} heads, inner width {shape['inner']}, {shape['vocab']} word pieces. State and question may have "
        f"{manifest['limits']['max_state_question_tokens']} tokens together, a candidate {manifest['limits']['max_candidate_tokens']}.",
        notes.strip(),
        "## Figures", "*Before* is the previous version. The accuracy of a part is the mean over its sets, which gives each the same weight. "
        "The calibration error is the expected calibration error (ECE) of the chosen candidate's probability, over 15 bins of equal width.",
        parts_table(parts), "By type of question, first part:", groups_table("type", parts[0][1]["types"]),
        "![Calibration: accuracy over probability](calibration.svg)", "### By language", languages_table(sets)]) + "\n"


def sources(datas):
    """The list of training data with licences. -> Markdown"""
    rows = [(name, f["source"], f["licence"], f["train"]["n"]) for data in datas for name, f in data["datasets"].items() if "train" in f]
    return "\n\n".join(["# Training data", "The training decisions were derived from these data sets. Each has its own licence. None of them is part of the package.",
                        table(("set", "source", "licence", "decisions"), rows)]) + "\n"


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def part_of(text):
    """TITLE=FIGURES[,BEFORE] -> (title, figures, earlier figures or None)"""
    title, _, paths = text.partition("=")
    now, _, before = paths.partition(",")
    return title, read(now), read(before) if before else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("package", "notes"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--part", type=part_of, action="append", required=True)
    parser.add_argument("--data", type=read, nargs="+", required=True)
    options = parser.parse_args()
    manifest = read(options.package / "manifest.json")
    parameters = sum(tensor.numel() for tensor in weights.load(options.package / "model.safetensors").values())
    text = card(manifest, parameters, options.part, options.notes.read_text(encoding="utf-8"))
    (options.package / "README.md").write_text(text, encoding="utf-8")
    (options.package / "DATA.md").write_text(sources(options.data), encoding="utf-8")
    title, figures, _ = options.part[0]
    (options.package / "calibration.svg").write_text(calibration_svg(figures["curve"], f"Calibration: {title}"), encoding="utf-8")


if __name__ == "__main__":
    main()
