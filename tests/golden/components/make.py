#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Principal components of position tables by numpy's SVD: components.csv, which test_golden_components.c reads.

    make.py > components.csv        (numpy 2.4.6)

Tables are of grids that no experiment has, one taller than it is wide and one wider; row 0 is a class token's and is no
position. Of each component the entry of the direction with the largest magnitude is positive."""
import numpy

CASES = {"tall": (9, 6, 10), "wide": (3, 4, 20), "class_far": (5, 7, 8)}
COMPONENTS = 3


def table_of(name, rows, columns, width):
    generator = numpy.random.Generator(numpy.random.PCG64(len(name)))
    down, across = numpy.mgrid[0:rows, 0:columns].reshape(2, -1, 1)
    rates = generator.normal(size=(2, width))
    table = numpy.sin(down * rates[0]) + 0.7 * numpy.cos(across * rates[1]) + 0.2 * generator.normal(size=(rows * columns, width))
    first = generator.normal(size=(1, width)) * (100 if name == "class_far" else 1)
    return numpy.concatenate([first, table])


def main():
    print("case,rows,columns,width,what,i,j,value")
    for name, (rows, columns, width) in CASES.items():
        table = table_of(name, rows, columns, width)
        patches = table[1:] - table[1:].mean(axis=0)
        _, spread, directions = numpy.linalg.svd(patches, full_matrices=False)
        shares = spread**2 / (spread**2).sum()

        def put(what, i, j, value):
            print(f"{name},{rows},{columns},{width},{what},{i},{j},{float(value)!r}")

        for i, row in enumerate(table):
            for j, value in enumerate(row):
                put("table", i, j, value)
        for k in range(COMPONENTS):
            direction = directions[k] * numpy.sign(directions[k][numpy.abs(directions[k]).argmax()])
            put("share", k, 0, shares[k])
            for i, score in enumerate(patches @ direction):
                put("score", k, i, score)


main()
