"""Trains the token tree, on a CPU or a GPU. Stops after a given time and resumes from its checkpoint.

    train.py --data SHARD ... --init MODEL.safetensors --out DIR --minutes 9 --total-minutes 27 [--dev DEV.shard]

A second call with the same --out resumes: weights, their average, optimizer, position in the data and in the schedule.
The learning rate warms up, stays constant, and decays to 0 over the last --cooldown of --total-minutes of training
time, which may be spread over several calls; pauses hardly count. The state before the decay is kept as
before-cooldown.pt. Renamed to checkpoint.pt, it lets a later call with more --total-minutes continue without the decay.

Loss: cross-entropy of softmax(scores / TEMPERATURE) over the candidates, so that the probabilities that the service
derives are the ones that were trained. The exported weights are the moving average.
"""
import argparse
import json
import os
import pathlib
import time

import torch
import torch.nn.functional as F

import weights
from average import Average
from batches import tensors
from device import autocast, choose
from evaluate import evaluate, sample
from model import TEMPERATURE, scores
from sampler import Sampler
from store import Store
from stream import Chunks, stream


def rate(progress, warmup, cooldown):
    """Learning rate relative to its maximum, at a share of the schedule."""
    if progress < warmup:
        return progress / warmup
    if progress < 1 - cooldown or cooldown <= 0:
        return 1.0
    fallen = min(1.0, (progress - (1 - cooldown)) / cooldown)
    return 1 - fallen**0.5


def optimizer_of(model, options):
    """AdamW without weight decay on vectors and word embeddings, with a higher rate for the head."""
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    groups = []
    for head in (False, True):
        for matrix in (False, True):
            chosen = [p for name, p in named if name.startswith("head.") == head and (p.ndim > 1 and not name.startswith("word.")) == matrix]
            groups.append({"params": chosen, "weight_decay": options.decay if matrix else 0.0, "times": options.head_rate if head else 1.0})
    return torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), fused=True)


class Run:
    """A training run: the content of a checkpoint, and the training step."""

    PLACE = ("step", "chunk", "batch", "seconds", "decisions", "tokens")

    def __init__(self, options):
        self.options, self.device = options, choose()
        torch.manual_seed(options.seed)
        start = weights.load(options.init)
        self.model = weights.model_of(weights.deepen(start, options.layers) if options.layers else start, dropout=options.dropout).to(self.device).train()
        self.model.word.weight.requires_grad_(not options.freeze_words)
        if options.new_words:
            self.model.word.weight.requires_grad_(True).register_post_accumulate_grad_hook(self.leave_old_words)
        self.optimizer = optimizer_of(self.model, options)
        self.average = Average(self.model, options.average)
        self.step, self.chunk, self.batch, self.seconds, self.decisions, self.tokens = 0, 0, 0, 0.0, 0, 0
        self.summed = 0

    def leave_old_words(self, words):
        words.grad[:self.options.new_words].zero_()

    @property
    def checkpoint(self):
        return self.options.out / "checkpoint.pt"

    def keep(self):
        """Writes the checkpoint and the averaged weights."""
        self.save(self.checkpoint)
        weights.save(self.average.state, self.options.out / "model.safetensors")

    def save(self, path):
        held = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "average": self.average.state,
                "place": {name: getattr(self, name) for name in self.PLACE}}
        torch.save(held, f"{path}.new")
        os.replace(f"{path}.new", path)

    def resume(self, path):
        held = torch.load(path, map_location=self.device, weights_only=True)
        self.model.load_state_dict(held["model"])
        self.optimizer.load_state_dict(held["optimizer"])
        self.average.state = held["average"]
        for name, value in held["place"].items():
            setattr(self, name, value)

    def learn(self, batch, progress):
        """Adds the gradients of a batch and, with those of --accumulate batches, takes a step at a share of the schedule. -> loss, a tensor"""
        share = 1.0 if self.options.constant else rate(progress, self.options.warmup, self.options.cooldown)
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.rate * share * group["times"]
        held = tensors(batch, self.device)
        with autocast(self.device):
            logits = scores(self.model, held)
        loss = F.cross_entropy(logits / TEMPERATURE, held["answer"])
        (loss / self.options.accumulate).backward()
        self.decisions += len(held["answer"])
        self.tokens += held["ids"].numel()
        self.summed = (self.summed + 1) % self.options.accumulate
        if not self.summed:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.step += 1
            self.average.update(self.model, self.step)
        return loss.detach()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", nargs="+", required=True)
    add("--init", required=True, help="weights to start from, safetensors")
    add("--out", required=True, type=pathlib.Path)
    add("--dev", help="prepared decisions to evaluate on")
    add("--dev-sample", type=int, default=1500)
    add("--layers", type=int, default=0, help="number of layers, if more than in --init: some are duplicated")
    add("--minutes", type=float, default=9.0, help="of this call")
    add("--total-minutes", type=float, default=27.0, help="of the schedule")
    add("--steps", type=int, default=10**9, help="stop this call after this many steps")
    add("--no-first-figures", action="store_true", help="do not evaluate the initial weights")
    add("--save-every", type=float, default=5.0, help="minutes")
    add("--evaluate-every", type=float, default=10.0, help="minutes of the schedule")
    add("--budget", type=int, default=8192, help="tokens of a batch, padding included")
    add("--accumulate", type=int, default=1, help="batches of a step: less memory than a larger --budget")
    add("--rate", type=float, default=1e-4)
    add("--head-rate", type=float, default=2.0, help="times --rate")
    add("--constant", action="store_true", help="constant rate, so that a run does not depend on the clock")
    add("--warmup", type=float, default=0.03, help="share of the schedule")
    add("--cooldown", type=float, default=0.3, help="share of the schedule over which the rate falls")
    add("--decay", type=float, default=0.01)
    add("--dropout", type=float, default=0.0)
    add("--average", type=float, default=0.999, help="decay per step of the moving average of the weights")
    add("--power", type=float, default=0.5, help="a set's share grows with its size to this power")
    add("--thrift", type=float, default=0.0, help="and falls with its mean tokens to this power")
    add("--times", nargs="*", default=(), metavar="SET=FACTOR", help="further factors for the shares of single sets")
    add("--strength", type=float, default=1.0, help="of the augmentation")
    add("--limits", type=int, nargs=3, default=(1024, 512, 256), metavar=("STATE", "QUESTION", "CANDIDATE"), help="tokens")
    add("--longest-row", type=int, default=2048, help="tokens; longer decisions are left out")
    add("--together", type=int, default=8, help="maximum number of questions about one state per row")
    add("--below", type=int, default=384, help="tokens of those questions and their candidates, unless the first alone has more")
    add("--most-candidates", type=int, default=64)
    add("--chunk", type=int, default=2048, help="number of decisions that are sorted by length together")
    add("--confused", type=pathlib.Path, help="hard negatives of mine.py")
    add("--freeze-words", action="store_true")
    add("--new-words", type=int, default=0, metavar="N", help="train only the word embeddings from row N on")
    add("--workers", type=int, default=0, help="processes that form batches")
    add("--threads", type=int, default=2)
    add("--seed", type=int, default=1)
    return parser.parse_args()


def sampler_of(options):
    return Sampler(Store(options.data), seed=options.seed, size=options.chunk, power=options.power, thrift=options.thrift, limits=tuple(options.limits),
                   most_candidates=options.most_candidates, strength=options.strength, longest_row=options.longest_row,
                   below=options.below, together=options.together,
                   times={name: float(factor) for name, factor in (entry.split("=") for entry in options.times)},
                   confused=json.loads(options.confused.read_text()) if options.confused else None)


class Diary:
    """Logs JSON lines to the screen and log.jsonl, with the mean loss since the last line."""

    def __init__(self, run, file):
        self.run, self.file = run, file
        self.start()

    def start(self):
        self.losses, self.since, self.counted = [], time.monotonic(), (self.run.decisions, self.run.tokens)

    def note(self, **figures):
        line = json.dumps({"step": self.run.step, "minutes": round(self.run.seconds / 60, 2), **figures})
        print(line, flush=True)
        self.file.write(line + "\n")
        self.file.flush()

    def learned(self, loss, every=30):
        """Adds a step's loss and logs the mean from time to time."""
        self.losses.append(loss)
        if time.monotonic() - self.since >= every:
            self.tell()

    def tell(self):
        """Logs the mean loss since the last line."""
        if not self.losses:
            return
        run, (decisions, tokens), passed = self.run, self.counted, time.monotonic() - self.since
        self.note(loss=round(torch.stack(self.losses).mean().item(), 4), decisions_per_second=round((run.decisions - decisions) / passed, 1),
                  tokens_per_second=round((run.tokens - tokens) / passed), seen=run.decisions, rate=run.optimizer.param_groups[0]["lr"])
        self.start()

    def judge(self, dev, options):
        """Evaluates the averaged weights and logs the figures."""
        self.tell()
        with self.run.average.held_by(self.run.model):
            figures = evaluate(self.run.model, dev, self.run.device, indices=sample(dev, options.dev_sample), budget=options.budget)
        self.note(dev=round(figures["mean_accuracy"], 4), accuracy=round(figures["all"]["accuracy"], 4), ece=round(figures["all"]["ece"], 4),
                  nll=round(figures["all"]["nll"], 4), sets={name: round(s["accuracy"], 3) for name, s in figures["sets"].items()})
        self.start()


class Every:
    """True once every so many seconds of a clock."""

    def __init__(self, seconds, now):
        self.seconds, self.last = seconds, now

    def is_due(self, now):
        if now - self.last <= self.seconds:
            return False
        self.last = now
        return True


def train(run, options, diary, dev):
    """Trains until the time of this call or of the schedule is over. The time starts after the data has been read."""
    batches = stream(Chunks(sampler_of(options), options.budget), run.chunk, run.batch, options.workers)
    # on a CPU, which may be shared, the schedule counts processor time of this process
    clock = time.process_time if run.device.type == "cpu" else time.monotonic
    end, steps, total = time.monotonic() + options.minutes * 60, run.step + options.steps, options.total_minutes * 60
    saving, judging = Every(options.save_every * 60, time.monotonic()), Every(options.evaluate_every * 60, run.seconds)
    fall, last = (1 - options.cooldown) * total, clock()
    for chunk, after, batch in batches:
        if not run.summed and (time.monotonic() >= end or run.step >= steps or run.seconds >= total):
            return
        diary.learned(run.learn(batch, run.seconds / total))
        run.chunk, run.batch = chunk, after
        before, run.seconds = run.seconds, run.seconds + clock() - last
        if before < fall <= run.seconds and not options.constant:
            run.save(options.out / "before-cooldown.pt")
        if not run.summed and saving.is_due(time.monotonic()):
            run.keep()
        if dev and judging.is_due(run.seconds):
            diary.judge(dev, options)
        last = clock()


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.set_float32_matmul_precision("high")
    options.out.mkdir(parents=True, exist_ok=True)
    run, dev = Run(options), Store([options.dev]) if options.dev else None
    if run.checkpoint.exists():
        run.resume(run.checkpoint)
    with (options.out / "log.jsonl").open("a", encoding="utf-8") as file:
        diary = Diary(run, file)
        diary.note(device=str(run.device), parameters=sum(p.numel() for p in run.model.parameters()))
        if dev and run.step == 0 and not options.no_first_figures:
            diary.judge(dev, options)
        train(run, options, diary, dev)
        run.keep()
        if dev:
            diary.judge(dev, options)


if __name__ == "__main__":
    main()
