#!/usr/bin/env python3
"""Peers of the job `decay`: K(d) = sum_j a_j cos(omega_j d) for d = 0 .. N-1, 64 pairs, in double where not said.

numpy_in_place    the formula in blocks that stay in the cache, without temporaries
numpy_two_level   angle addition: d = B u + v, so that K is one product of two small tables, left to the BLAS
torch_f32_naive   what notebooks do: float32 angles (wrong by percents at 10^6), a broadcast and a sum

For numpy the BLAS must be OpenBLAS (Debian: libopenblas0-openmp).
"""
import common

np = common.need("numpy")

PAIRS = 64
OMEGA = 10000.0 ** (-np.arange(PAIRS) / PAIRS)
WEIGHT = 1.0 / (1.0 + np.arange(PAIRS))


class Peer:
    """N distances into `out`, which is there before: fresh memory costs as much as the job."""

    bound = 1e-12  # of the sum of weights; angles to 10^4 lose 4 digits of 16
    dtype = np.float64

    def __init__(self, threads):
        self.threads = threads
        common.blas_threads(threads)

    def prepare(self, size):
        self.out = np.empty(size, self.dtype)

    def check(self):
        count = 10000
        self.prepare(count)
        self.run()
        d = np.arange(count, dtype=np.longdouble)
        exact = sum(np.longdouble(w) * np.cos(d * np.longdouble(o)) for w, o in zip(WEIGHT, OMEGA))
        return float(np.abs(np.asarray(self.out) - exact).max() / WEIGHT.sum())


class NumpyInPlace(Peer):
    name = "numpy_in_place"
    BLOCK = 4096  # 64 pairs x 4096 doubles are 2 MiB

    def run(self):
        steps, angle = np.arange(self.BLOCK, dtype=np.float64), np.empty((PAIRS, self.BLOCK))
        for begin in range(0, len(self.out), self.BLOCK):
            end = min(begin + self.BLOCK, len(self.out))
            part = angle[:, : end - begin]
            np.multiply(OMEGA[:, None], steps[: end - begin] + begin, out=part)
            np.cos(part, out=part)
            self.out[begin:end] = WEIGHT @ part


class NumpyTwoLevel(Peer):
    name = "numpy_two_level"
    STEP = 4096

    def prepare(self, size):
        self.rows = -(-size // self.STEP)
        self.square = np.empty((self.rows, self.STEP))
        self.out = self.square.reshape(-1)[:size]

    def run(self):
        coarse = np.multiply.outer(np.arange(self.rows) * float(self.STEP), OMEGA)
        fine = np.multiply.outer(OMEGA, np.arange(self.STEP, dtype=np.float64))
        left = np.concatenate([WEIGHT * np.cos(coarse), -WEIGHT * np.sin(coarse)], axis=1)
        right = np.concatenate([np.cos(fine), np.sin(fine)])
        np.matmul(left, right, out=self.square)


class TorchNaive(Peer):
    name = "torch_f32_naive"
    bound = 1e-3  # float32 angles to 10^4
    BLOCK = 65536

    def __init__(self, threads):
        super().__init__(threads)
        self.torch = common.need("torch")
        self.torch.set_num_threads(threads)

    def prepare(self, size):
        self.out = self.torch.empty(size)

    def run(self):
        torch = self.torch
        omega, weight = torch.from_numpy(OMEGA).float(), torch.from_numpy(WEIGHT).float()
        for begin in range(0, len(self.out), self.BLOCK):
            d = torch.arange(begin, min(begin + self.BLOCK, len(self.out)), dtype=torch.float32)
            self.out[begin : begin + len(d)] = (weight * torch.cos(torch.outer(d, omega))).sum(1)


if __name__ == "__main__":
    common.main({"decay": (10**7, 10**5, [NumpyInPlace, NumpyTwoLevel, TorchNaive])}, __doc__.splitlines()[0])
