"""Interpolates the weights of a model and of one that was fine-tuned from it.

    blend.py --from A.safetensors --to B.safetensors --share 0.25 [--soften 1.3] --out DIR/model.safetensors

Fine-tuning on other data forgets some of the earlier training; interpolated weights keep most of both
(Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"). --soften divides all scores, which makes an
overconfident model less confident and keeps every order.
"""
import argparse
import pathlib

import weights


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="start", required=True)
    parser.add_argument("--to", required=True)
    parser.add_argument("--share", type=float, required=True, help="interpolation factor: 0 gives the first model, 1 the second")
    parser.add_argument("--soften", type=float, default=1.0, help="divides all scores")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    start, end = weights.load(options.start), weights.load(options.to)
    if start.keys() != end.keys():
        raise SystemExit("the two are not of one architecture")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    blended = {name: start[name].float() * (1 - options.share) + end[name].float() * options.share for name in start}
    for name in ("head.2.weight", "head.2.bias"):
        blended[name] /= options.soften
    weights.save(blended, options.out)


if __name__ == "__main__":
    main()
