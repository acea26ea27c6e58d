"""Exports a package's model the way such models are published for ONNX: `input_ids` and `attention_mask` [batch, sequence] -> `scores` [batch].

    venv/bin/python export_onnx.py FOLDER OUT [--keep-weights-apart]

Pairs are padded on the right. FOLDER holds config.json, model.safetensors and joint_head.safetensors; OUT becomes model.onnx.
"""

import argparse
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import Gemma3TextConfig, Gemma3TextModel


class JointModel(torch.nn.Module):
    def __init__(self, folder: Path):
        super().__init__()
        config = Gemma3TextConfig.from_pretrained(folder)
        self.window = config.sliding_window
        self.model = Gemma3TextModel.from_pretrained(folder, config=config, dtype=torch.float32, attn_implementation="eager")
        tensors = load_file(folder / "joint_head.safetensors")
        by_size = {tuple(tensor.shape): name.rsplit(".", 1)[0] for name, tensor in tensors.items()}
        hidden = config.hidden_size
        out = next(name for shape, name in by_size.items() if len(shape) == 2 and shape[0] == 1)
        inner = next(name for shape, name in by_size.items() if len(shape) == 2 and shape[0] > 1)
        norm = next(name.rsplit(".", 1)[0] for name in tensors if name.rsplit(".", 1)[0] not in (out, inner))
        size = tensors[f"{inner}.weight"].shape[0]
        self.head = torch.nn.Sequential(
            torch.nn.LayerNorm(hidden, eps=1e-5), torch.nn.Linear(hidden, size), torch.nn.GELU(), torch.nn.Linear(size, 1)
        )
        names = {"0": norm, "1": inner, "3": out}
        self.head.load_state_dict(
            {f"{at}.{part}": tensors[f"{name}.{part}"].float() for at, name in names.items() for part in ("weight", "bias")}
        )

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        places = torch.arange(input_ids.shape[1])
        distance = places[:, None] - places[None, :]
        causal = (distance >= 0)[None, None] & (attention_mask[:, None, None, :] > 0)
        near = causal & (distance < self.window)[None, None]
        hide = lambda seen: torch.where(seen, 0.0, -1e30)
        hidden = self.model(
            input_ids=input_ids,
            attention_mask={"full_attention": hide(causal), "sliding_attention": hide(near)},
            use_cache=False,
        ).last_hidden_state
        last = (attention_mask.sum(1) - 1)[:, None, None].expand(-1, 1, hidden.shape[2])
        read = torch.gather(hidden, 1, last)[:, 0]
        return self.head(torch.nn.functional.normalize(read, dim=-1, eps=1e-12))[:, 0]


def export(folder: Path, out: Path, keep_weights_apart: bool = False) -> None:
    """Writes `out`, and `out`.data where the weights are kept apart."""
    model = JointModel(folder).eval()
    ids = torch.tensor([[2, 5, 6, 7, 8], [2, 9, 10, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    batch, sequence = torch.export.Dim("batch"), torch.export.Dim("sequence")
    program = torch.onnx.export(
        model,
        (ids, mask),
        input_names=["input_ids", "attention_mask"],
        output_names=["scores"],
        dynamic_shapes={"input_ids": {0: batch, 1: sequence}, "attention_mask": {0: batch, 1: sequence}},
        dynamo=True,
        optimize=True,
        verbose=False,
    )
    strip(program.model)
    program.save(str(out), external_data=keep_weights_apart)


def strip(model) -> None:
    """Leaves out what the exporter says about itself and its sources: more than a small model's weights."""
    for holder in [model, model.graph, *model.functions.values()]:
        holder.metadata_props.clear()
        holder.doc_string = None
    for node in model.graph.all_nodes():
        node.metadata_props.clear()
        node.doc_string = None
        for value in node.outputs:
            value.metadata_props.clear()
            if not value.is_graph_output():
                value.shape, value.type = None, None
    for value in [*model.graph.initializers.values(), *model.graph.inputs, *model.graph.outputs]:
        value.metadata_props.clear()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--keep-weights-apart", action="store_true")
    given = parser.parse_args()
    export(given.folder, given.out, given.keep_weights_apart)
