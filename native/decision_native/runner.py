"""Scores batches with a model on a device."""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import torch

from .layout import lay_out
from .plan import LONG_STATE, Limits, plan, read_nodes

# Chosen: on a CPU more tokens at a time are not faster; a GPU wants as many as there are.
CPU_LIMITS = Limits(tokens=1024, area=2**18)
GPU_LIMITS = Limits(tokens=16384, area=2**24)


@dataclass(frozen=True)
class Result:
    scores: np.ndarray  # [pairs] float32
    vectors: object  # [pairs, width] float32, or None
    forwards: int
    cached_tokens: int

    @property
    def width(self):
        return 0 if self.vectors is None else self.vectors.shape[1]

    def bytes(self):
        return self.scores.tobytes() + (b"" if self.vectors is None else self.vectors.tobytes())


class Runner:
    def __init__(self, model, settings, state_cache_bytes, has_vectors):
        self.model, self.settings, self.has_vectors = model, settings, has_vectors
        self.states = States(state_cache_bytes)
        self.limits = CPU_LIMITS if settings.device.type == "cpu" else GPU_LIMITS

    @property
    def facts(self):
        return {"device": str(self.settings.device), "precision": self.settings.precision}

    @property
    def state_counts(self):
        return self.states.hits, self.states.misses

    @property
    def remedy(self):
        return ": fp16 ends at 65,504, bf16 and fp32 do not" if self.settings.precision == "fp16" else ""

    def warm_up(self):
        """Loads the kernels, so that what is missing shows before the first request."""
        tokens = np.zeros(3, dtype="<i4")
        self.score(read_nodes([1, 1, 1], [-1, 0, 1], ["", "", ""], tokens.tobytes()))

    def forget(self):
        """After a failure: memory that the next batch may need."""
        self.states.clear()
        if self.settings.device.type == "cuda":
            torch.cuda.empty_cache()

    def score(self, nodes):
        """@param nodes see `read_nodes` @returns Result"""
        planned = plan(nodes, self.states.__contains__, self.limits)
        encoded = self.recall(planned)
        cached_tokens = sum(len(node.tokens) for node in encoded)
        needed = last_uses(planned.rounds)
        kept = {state for state in planned.states if self.states.keeps and len(state.tokens) >= LONG_STATE}
        scored, outputs, forwards = [], [], 0
        for index, forward in ((index, forward) for index, round in enumerate(planned.rounds) for forward in round):
            layout = lay_out(forward, self.model, self.settings.device, self.settings.dtype)
            wanted = [node for node in layout.nodes if node in kept or needed.get(node, -1) > index]
            outputs.append(self.run(layout, encoded, wanted))
            scored += layout.scored
            forwards += 1
            for node in wanted:
                if node in kept:
                    self.states.put(node.key, encoded[node])
        # the one place where the host waits for the device
        scores = np.empty(len(planned.leaves), dtype=np.float32)
        vectors = np.empty((len(scores), self.model.width), dtype=np.float32) if self.has_vectors else None
        if scored:
            place = {node: index for index, node in enumerate(planned.leaves)}
            order = [place[node] for node in scored]
            scores[order] = torch.cat([each for each, _ in outputs]).float().cpu().numpy()
            if vectors is not None:
                vectors[order] = torch.cat([each for _, each in outputs]).float().cpu().numpy()
        if not np.isfinite(scores).all():  # the states of this batch may be kept: whoever is told forgets them
            raise ArithmeticError(f"a score is not a finite number{self.remedy}")
        return Result(scores, vectors, forwards, cached_tokens)

    def recall(self, planned):
        encoded = {}
        for state in planned.states:
            known = self.states.get(state.key)
            if known is not None:
                encoded[state] = known
            elif self.states.keeps and len(state.tokens) >= LONG_STATE:
                self.states.misses += 1
        return encoded

    def run(self, layout, encoded, wanted):
        """@param encoded keys and values of nodes, [layers, 2, tokens, heads, size]; gets those of `wanted` @returns scores, vectors"""
        model = self.model
        past = [encoded[node] for node in layout.past]
        past = None if not past else past[0] if len(past) == 1 else torch.cat(past, dim=2)
        kept = None
        if wanted:
            shape = (model.layer_count, 2, len(layout.ids), *model.key_shape)
            kept = torch.empty(shape, dtype=self.settings.dtype, device=self.settings.device)

        def keep(layer, keys, values):
            if kept is not None:
                kept[layer, 0], kept[layer, 1] = keys, values

        with torch.inference_mode():
            scores, vectors = model.score(model.forward(layout, past, keep))
            at = 0
            for node in layout.nodes:
                if node in wanted:
                    encoded[node] = kept[:, :, at : at + len(node.tokens)].clone()
                at += len(node.tokens)
        return scores, vectors


def last_uses(rounds):
    """Index of the last round that needs a node encoded earlier."""
    return {node: index for index, round in enumerate(rounds) for forward in round for row in forward for node in row.past}


class States:
    """Keys and values of the states seen last, on the device; the least recently used go first."""

    def __init__(self, most_bytes):
        self.most, self.bytes, self.hits, self.misses = most_bytes, 0, 0, 0
        self.tensors = OrderedDict()

    @property
    def keeps(self):
        return self.most > 0

    def __contains__(self, key):
        return key in self.tensors

    def get(self, key):
        known = self.tensors.get(key)
        if known is not None:
            self.tensors.move_to_end(key)
            self.hits += 1
        return known

    def put(self, key, tensor):
        size = tensor.numel() * tensor.element_size()
        if size > self.most or key in self.tensors:
            return
        self.tensors[key] = tensor
        self.bytes += size
        while self.bytes > self.most:
            _, oldest = self.tensors.popitem(last=False)
            self.bytes -= oldest.numel() * oldest.element_size()

    def clear(self):
        self.tensors.clear()
        self.bytes = 0
