"""The moving average of a model's weights."""
import contextlib

import torch


class Average:
    """`state` is {name: float32 tensor}. The decay is lower at the beginning, so that the initial weights count little."""

    def __init__(self, model, decay):
        self.decay = decay
        self.state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model, step):
        decay = min(self.decay, (1 + step) / (10 + step))
        held = model.state_dict()
        torch._foreach_lerp_(list(self.state.values()), [held[name] for name in self.state], 1 - decay)

    @contextlib.contextmanager
    def held_by(self, model):
        """Context manager: the model has the averaged weights inside the block."""
        own = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        model.load_state_dict(self.state)
        try:
            yield
        finally:
            model.load_state_dict(own)
