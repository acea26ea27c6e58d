"""Token-tree cross-encoder: a BERT encoder whose attention follows state -> question -> candidate.

A state token attends to the state. A question token attends to the state and its own question. A candidate token
attends to the state, its question and itself. Each candidate is scored jointly with state and question, while a
server encodes the state once for all questions and each question once for all its candidates.

    tokens of a row:   state [CLS] .. [SEP] | question .. [SEP] | candidate 1 [CLS] .. [SEP] | candidate 2 .. | next
    question .. | its candidate .. | padding
    part:              0 ..                 | 1 ..              | 2 ..                       | 3 ..           | 4 ..
    | 5 ..             | 65535
    owner:             0 ..                 | 1 ..              | 1 ..                       | 1 ..           | 4 ..
    | 4 ..             | 65535
    position:          0 ..                 | 0 ..              | 0 ..                       | 0 ..           | 0 ..
    | 0 ..    (modulo `positions`)
    segment:           0                    | 1                 | 2                          | 2              | 1                | 2
    score of a candidate: head(hidden state of its [CLS])
"""
import torch
import torch.nn.functional as F
from torch import nn

from batches import PADDING

TEMPERATURE = 4.136820402388508
HIDDEN = -30000.0  # added to the logits of masked keys


class WrittenOut(torch.autograd.Function):
    """Attention for training on a CPU. The backward pass of PyTorch's own attention takes four times as long in bf16
    there, and autocast would compute the softmax in float32."""

    @staticmethod
    def forward(ctx, q, k, v, mask):
        weights = torch.matmul(q, k.transpose(-1, -2)).add_(mask).softmax(-1)
        ctx.save_for_backward(q, k, v, weights)
        return torch.matmul(weights, v)

    @staticmethod
    def backward(ctx, gradient):
        q, k, v, weights = ctx.saved_tensors
        of_weights = torch.matmul(gradient, v.transpose(-1, -2))
        of_logits = torch._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        of_v = torch.matmul(weights.transpose(-1, -2), gradient)
        return torch.matmul(of_logits, k), torch.matmul(of_logits.transpose(-1, -2), q), of_v, None


def attention(q, k, v, mask):
    """q, k, v [B,heads,T,d]; mask [B,1,T,T] of the same type, added to the logits. -> [B,heads,T,d]"""
    if q.is_cuda or not torch.is_grad_enabled():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    with torch.autocast(q.device.type, enabled=False):
        return WrittenOut.apply((q * q.shape[-1] ** -0.5).contiguous(), k.contiguous(), v.contiguous(), mask)


class Layer(nn.Module):
    def __init__(self, hidden, heads, inner):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.ln1 = nn.LayerNorm(hidden, eps=1e-12)
        self.up = nn.Linear(hidden, inner)
        self.down = nn.Linear(inner, hidden)
        self.ln2 = nn.LayerNorm(hidden, eps=1e-12)

    def forward(self, x, mask, read=None, dropout=0.0):
        """x [B,T,H]; mask [B,1,T,T], see `attention`; read [B,N]: indices of the tokens to return, all if None. -> [B,N,H]"""
        q, k, v = (self._heads(part) for part in self.qkv(x).chunk(3, -1)) if read is None else self._few(x, read)
        if read is not None:
            x = pick(x, read)
            mask = mask.gather(2, read[:, None, :, None].expand(-1, -1, -1, mask.shape[-1]))
        seen = attention(q, k, v, mask).transpose(1, 2).flatten(2)
        x = self.ln1(x + F.dropout(self.out(seen), dropout, self.training))
        return self.ln2(x + F.dropout(self.down(F.gelu(self.up(x))), dropout, self.training))

    def _heads(self, x):
        """[B,T,H] -> [B,heads,T,d]"""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _few(self, x, read):
        """Attention with queries of the tokens to be read only, and keys and values of all tokens."""
        H = x.shape[-1]
        weight, bias = self.qkv.weight, self.qkv.bias
        k, v = F.linear(x, weight[H:], bias[H:]).chunk(2, -1)
        return (self._heads(part) for part in (F.linear(pick(x, read), weight[:H], bias[:H]), k, v))


def pick(x, read):
    """x [B,T,H], read [B,N] -> [B,N,H]"""
    return x.gather(1, read[..., None].expand(-1, -1, x.shape[-1]))


class TokenTreeRanker(nn.Module):
    def __init__(self, vocab=30522, hidden=384, heads=12, inner=1536, layers=6, positions=512, dropout=0.0):
        super().__init__()
        self.positions, self.heads, self.dropout = positions, heads, dropout
        self.word = nn.Embedding(vocab, hidden)
        self.pos = nn.Embedding(positions, hidden)
        self.seg = nn.Embedding(3, hidden)
        self.ln = nn.LayerNorm(hidden, eps=1e-12)
        self.layers = nn.ModuleList(Layer(hidden, heads, inner) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, 1))

    @property
    def architecture(self):
        return {"vocab": self.word.num_embeddings, "hidden": self.word.embedding_dim, "heads": self.heads,
                "inner": self.layers[0].up.out_features, "layers": len(self.layers), "positions": self.positions}

    def forward(self, ids, position, segment, part, owner, first):
        """ids, position, segment, part, owner [B,T]; first [B,N]: where the candidates start. -> scores [B,N], float32"""
        x = self.ln(self.word(ids) + self.pos(position % self.positions) + self.seg(segment))
        dtype = torch.get_autocast_dtype(x.device.type) if torch.is_autocast_enabled(x.device.type) else x.dtype
        mask = torch.zeros((), dtype=dtype, device=x.device).masked_fill(~visible(part, owner)[:, None], HIDDEN)
        for layer in self.layers[:-1]:
            x = layer(x, mask, dropout=self.dropout)
        return self.head(self.layers[-1](x, mask, first, self.dropout)).squeeze(-1).float()


def visible(part, owner):
    """part, owner [B,T] -> bool [B,T,T]: whether the row's token attends to the column's: its own part, its question
    and the state. Padding attends to padding, so that no row is empty."""
    column = part[:, None, :]
    return (column == part[:, :, None]) | (column == owner[:, :, None]) | (column == 0) & (part[:, :, None] < PADDING)


def scores(model, batch):
    """Scores of the questions of a batch of batches.py, -inf where there is no candidate. -> [Q,C]"""
    made = model(*(batch[name] for name in ("ids", "position", "segment", "part", "owner", "first")))
    return made.flatten()[batch["choice"]].masked_fill(~batch["real"], float("-inf"))
