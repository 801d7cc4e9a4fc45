#!/usr/bin/env python3
"""Peers of the jobs `train_step*` and `evaluate_2k`: a decoder with RoPE, RMS norms before, GELU, no biases, trained by
AdamW, or read. float32.

torch_eager   modules as a researcher writes them: q, k, v in one matrix, softmax of masked scores, autograd,
              clip_grad_norm_, torch.optim.AdamW (foreach); readings under inference_mode, a few sequences at a time

Tokens are drawn before, and not timed; ours draws its own. `--check` compares the loss with a plain double one in numpy,
and the gradient along a random direction with that one's central difference.

Debian's torch takes any libblas.so.3. That must be OpenBLAS (libopenblas0-openmp) to be fair; where another one is
chosen, LD_PRELOAD=/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3 puts it first. side_by_side.py does so; where
OpenBLAS does not know the machine and takes it for a Prescott, it sets OPENBLAS_CORETYPE=SkylakeX, too.
"""
import math

import common

np = common.need("numpy")

THETA, EPSILON = 10000.0, 1e-5


def make_weights(plan, rng):
    """Name -> matrix (outputs, inputs) or vector, in double."""
    blocks, d, _, classes = plan
    weights = {"embed": 0.5 * rng.standard_normal((classes, d)), "norm": np.ones(d)}
    weights["head"] = rng.standard_normal((classes, d)) / math.sqrt(d)
    for i in range(blocks):
        weights[f"{i}.norm1"], weights[f"{i}.norm2"] = np.ones(d), np.ones(d)
        for name, rows, columns in ("qkv", 3 * d, d), ("out", d, d), ("up", 4 * d, d), ("down", d, 4 * d):
            weights[f"{i}.{name}"] = rng.standard_normal((rows, columns)) / math.sqrt(columns)
    return weights


def angles(length, head_dim):
    return np.multiply.outer(np.arange(length), THETA ** (-np.arange(head_dim // 2) / (head_dim // 2)))


def plain_loss(plan, weights, tokens, targets):
    """Mean cross-entropy, sequence by sequence and head by head, in double."""
    blocks, d, heads, _ = plan
    size, length = d // heads, tokens.shape[1]
    cos, sin = np.cos(angles(length, size)), np.sin(angles(length, size))
    erf = np.vectorize(math.erf)

    def norm(x, weight):
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON) * weight

    def turn(x):
        a, b = x[:, : size // 2], x[:, size // 2 :]
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=1)

    def attend(x, i):
        qkv, out = norm(x, weights[f"{i}.norm1"]) @ weights[f"{i}.qkv"].T, []
        for h in range(heads):
            q, k, v = (qkv[:, part * d + h * size : part * d + (h + 1) * size] for part in range(3))
            score = turn(q) @ turn(k).T / math.sqrt(size)
            score[np.triu_indices(length, 1)] = -np.inf
            weight = np.exp(score - score.max(axis=1, keepdims=True))
            out.append(weight / weight.sum(axis=1, keepdims=True) @ v)
        return np.concatenate(out, axis=1) @ weights[f"{i}.out"].T

    total = 0.0
    for sequence, target in zip(tokens, targets):
        x = weights["embed"][sequence]
        for i in range(blocks):
            x = x + attend(x, i)
            up = norm(x, weights[f"{i}.norm2"]) @ weights[f"{i}.up"].T
            x = x + (up * (1 + erf(up / math.sqrt(2))) / 2) @ weights[f"{i}.down"].T
        logits = norm(x, weights["norm"]) @ weights["head"].T
        top = logits.max(axis=1)
        total += (top + np.log(np.exp(logits - top[:, None]).sum(axis=1)) - logits[np.arange(length), target]).sum()
    return total / tokens.size


def torch_model(torch, plan, length, weights):
    """The same as a module; its parameters begin as `weights`."""
    blocks, d, heads, classes = plan
    nn, functional, size = torch.nn, torch.nn.functional, d // heads

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d))

        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = Norm(), Norm()
            self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
            self.up, self.down = nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)

        def forward(self, x, cos, sin, hidden):
            batch, n, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(batch, n, 3, heads, size).permute(2, 0, 3, 1, 4)
            q, k = turn(q, cos, sin), turn(k, cos, sin)
            score = (q @ k.transpose(-1, -2) / math.sqrt(size)).masked_fill(hidden, -math.inf)
            mixed = torch.softmax(score, dim=-1) @ v
            x = x + self.out(mixed.transpose(1, 2).reshape(batch, n, d))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    def turn(x, cos, sin):
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-b, a], dim=-1) * sin

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(classes, d)
            self.blocks = nn.ModuleList(Block() for _ in range(blocks))
            self.norm, self.head = Norm(), nn.Linear(d, classes, bias=False)
            angle = torch.from_numpy(angles(length, size)).repeat(1, 2)
            self.register_buffer("cos", angle.cos().float())
            self.register_buffer("sin", angle.sin().float())
            self.register_buffer("hidden", torch.ones(length, length, dtype=torch.bool).triu(1))

        def forward(self, tokens):
            x = self.embed(tokens)
            for block in self.blocks:
                x = block(x, self.cos, self.sin, self.hidden)
            return self.head(self.norm(x))

    model = Decoder()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(weights[our_name(name)]))
    return model


def our_name(name):
    """blocks.0.qkv.weight is 0.qkv."""
    return name.replace("blocks.", "").replace(".weight", "")


class TorchTrains:
    """One step a run. `plan`: blocks, d, heads, classes."""

    name, bound = "torch_eager", 1e-4
    plan = 2, 64, 2, 41

    def __init__(self, threads):
        self.torch = common.need("torch")
        self.torch.set_num_threads(threads)

    def prepare(self, size):
        torch, (length, sequences) = self.torch, size
        rng = np.random.default_rng(1)
        self.weights = make_weights(self.plan, rng)
        drawn = rng.integers(0, self.plan[3], (sequences, length + 1))
        self.tokens, self.targets = (torch.from_numpy(np.ascontiguousarray(x)) for x in (drawn[:, :-1], drawn[:, 1:]))
        self.model = torch_model(torch, self.plan, length, self.weights)
        matrices = [p for p in self.model.parameters() if p.dim() == 2]
        vectors = [p for p in self.model.parameters() if p.dim() == 1]
        groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.98), foreach=True)

    def loss(self, tokens, targets):
        logits = self.model(tokens)
        return self.torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def run(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.tokens, self.targets).backward()
        self.torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def exact(self, step=0.0, direction=None):
        moved = {name: w + step * direction[name] if direction else w for name, w in self.weights.items()}
        return plain_loss(self.plan, moved, self.tokens.numpy(), self.targets.numpy())

    def check(self):
        self.prepare((24, 2))
        loss = self.loss(self.tokens, self.targets)
        loss.backward()
        rng, slope = np.random.default_rng(2), 0.0
        direction = {name: rng.standard_normal(w.shape) / math.sqrt(w.size) for name, w in self.weights.items()}
        for name, parameter in self.model.named_parameters():
            slope += float((parameter.grad.double().numpy() * direction[our_name(name)]).sum())
        difference = (self.exact(1e-4, direction) - self.exact(-1e-4, direction)) / 2e-4
        return max(abs(float(loss) - self.exact()), abs(slope - difference))


class TorchTrainsWide(TorchTrains):
    plan = 4, 256, 4, 256


class TorchReads(TorchTrains):
    """Losses and answers of every token."""

    TOGETHER = 4  # sequences; 1, 2 and 16 took longer

    def run(self):
        torch, losses, answers = self.torch, [], []
        with torch.inference_mode():
            for tokens, targets in zip(self.tokens.split(self.TOGETHER), self.targets.split(self.TOGETHER)):
                logits = self.model(tokens).flatten(0, 1)
                losses.append(torch.nn.functional.cross_entropy(logits, targets.flatten(), reduction="none"))
                answers.append(logits.argmax(dim=-1))
        return torch.cat(losses), torch.cat(answers)

    def check(self):
        error = super().check()
        return max(error, abs(float(self.run()[0].mean()) - self.exact()))


if __name__ == "__main__":
    common.main(
        {
            "train_step": ((64, 64), (32, 8), [TorchTrains]),
            "train_step_256": ((256, 32), (32, 2), [TorchTrainsWide]),
            "evaluate_2k": ((2048, 16), (128, 2), [TorchReads]),
        },
        __doc__.splitlines()[0],
    )
