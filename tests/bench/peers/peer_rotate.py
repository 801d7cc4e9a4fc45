#!/usr/bin/env python3
"""Peers of the jobs `rotate_*`: rotary embedding of float32 (tokens, heads, 128), angles made from the positions.

numpy_blocks       blocks that stay in the cache, in place, float64 angles
numpy_complex      interleaved pairs as complex numbers, times cis in place
torch_rotate_half  as Hugging Face's apply_rotary_pos_emb: float32 tables, cat, two products and a sum
torch_addcmul      tables of half the width, fused into a result that is there before: the fewest passes torch offers
torch_complex      as Meta's llama: view_as_complex, one product
"""
import common

np = common.need("numpy")

DIM = 128
OMEGA = 10000.0 ** (-np.arange(DIM // 2) / (DIM // 2))


class Peer:
    bound = 1e-3  # float32 angles to 1000; float64 ones are checked at 1e-6
    interleaved = False

    def __init__(self, threads):
        self.threads = threads

    def prepare(self, size):
        tokens, heads = size
        self.x = np.random.default_rng(1).standard_normal((tokens, heads, DIM), dtype=np.float32)

    def result(self):
        """What `run` left, as (tokens, heads, 128)."""
        return self.x

    def check(self):
        self.prepare((1000, 3))
        before = self.x.astype(np.longdouble)
        angle = np.multiply.outer(np.arange(1000, dtype=np.longdouble), OMEGA.astype(np.longdouble))[:, None]
        first, second = (
            (before[..., 0::2], before[..., 1::2]) if self.interleaved else np.split(before, 2, axis=-1)
        )
        turned = first * np.cos(angle) - second * np.sin(angle), first * np.sin(angle) + second * np.cos(angle)
        exact = np.stack(turned, axis=-1).reshape(before.shape) if self.interleaved else np.concatenate(turned, axis=-1)
        self.run()
        return float(np.abs(self.result() - exact).max())


def angles(begin, end):
    return np.multiply.outer(np.arange(begin, end, dtype=np.float64), OMEGA)


class NumpyBlocks(Peer):
    name, bound, BLOCK = "numpy_blocks", 2e-6, 64

    def run(self):
        for begin in range(0, len(self.x), self.BLOCK):
            part = self.x[begin : begin + self.BLOCK]
            angle = angles(begin, begin + len(part))
            cos, sin = np.cos(angle).astype(np.float32)[:, None], np.sin(angle).astype(np.float32)[:, None]
            first, second = part[..., : DIM // 2], part[..., DIM // 2 :]
            kept = first * sin
            first *= cos
            first -= second * sin
            second *= cos
            second += kept


class NumpyComplex(Peer):
    name, bound, interleaved, BLOCK = "numpy_complex", 2e-6, True, 64

    def run(self):
        pairs = self.x.view(np.complex64)
        for begin in range(0, len(pairs), self.BLOCK):
            part = pairs[begin : begin + self.BLOCK]
            angle = angles(begin, begin + len(part))
            cis = np.empty(angle.shape, np.complex64)
            cis.real, cis.imag = np.cos(angle), np.sin(angle)
            np.multiply(part, cis[:, None], out=part)


class TorchPeer(Peer):
    def __init__(self, threads):
        super().__init__(threads)
        self.torch = common.need("torch")
        self.torch.set_num_threads(threads)
        self.omega = self.torch.from_numpy(OMEGA).float()

    def prepare(self, size):
        super().prepare(size)
        self.tensor = self.torch.from_numpy(self.x)
        self.out = self.tensor

    def result(self):
        return self.out.numpy()

    def table(self):
        return self.torch.outer(self.torch.arange(len(self.tensor)).float(), self.omega)


class TorchRotateHalf(TorchPeer):
    name = "torch_rotate_half"

    def run(self):
        torch, x = self.torch, self.tensor
        angle = self.table()
        angle = torch.cat((angle, angle), dim=-1)
        cos, sin = angle.cos()[:, None], angle.sin()[:, None]
        half = torch.cat((-x[..., DIM // 2 :], x[..., : DIM // 2]), dim=-1)
        self.out = x * cos + half * sin


class TorchAddcmul(TorchPeer):
    name = "torch_addcmul"

    def prepare(self, size):
        super().prepare(size)
        self.out = self.torch.empty_like(self.tensor)

    def run(self):
        torch, x, out = self.torch, self.tensor, self.out
        angle = self.table()
        cos, sin = angle.cos()[:, None], angle.sin()[:, None]
        first, second = x[..., : DIM // 2], x[..., DIM // 2 :]
        torch.mul(first, cos, out=out[..., : DIM // 2])
        out[..., : DIM // 2].addcmul_(second, sin, value=-1)
        torch.mul(first, sin, out=out[..., DIM // 2 :])
        out[..., DIM // 2 :].addcmul_(second, cos)


class TorchComplex(TorchPeer):
    name, interleaved = "torch_complex", True

    def run(self):
        torch, x = self.torch, self.tensor
        angle = self.table()
        cis = torch.polar(torch.ones_like(angle), angle)[:, None]
        pairs = torch.view_as_complex(x.view(*x.shape[:-1], DIM // 2, 2))
        self.out = torch.view_as_real(pairs * cis).view(x.shape)


HALF_SPLIT = [NumpyBlocks, TorchRotateHalf, TorchAddcmul]

if __name__ == "__main__":
    common.main(
        {
            "rotate_half_split": ((65536, 8), (2048, 8), HALF_SPLIT),
            "rotate_interleaved": ((65536, 8), (2048, 8), [NumpyComplex, TorchComplex]),
            "rotate_40_heads": ((32768, 40), (512, 40), HALF_SPLIT),
        },
        __doc__.splitlines()[0],
    )
