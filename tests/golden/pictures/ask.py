#!/usr/bin/env python3
"""What torch makes of pictures that are resized, and numpy of their normalisation: resized.csv. Needs torch and numpy.

    tests/golden/pictures/ask.py >tests/golden/pictures/resized.csv

The pictures are 4 of 6 x 9 with 2 channels, by a formula; the last is resized (bilinear, antialias) in float64 to other
grids of the same proportion, less each channel's mean over the first three, in their standard deviations.
"""
import numpy
import torch

PICTURES, ROWS, COLUMNS, CHANNELS, TRAINED = 4, 6, 9, 2, 3
n, y, x, c = numpy.meshgrid(*(numpy.arange(k) for k in (PICTURES, ROWS, COLUMNS, CHANNELS)), indexing="ij")
pictures = ((37 * n + 101 * c + 5 * y + 31 * x + 7 * y * x) % 256).astype(numpy.float64)
trained = pictures[:TRAINED]
normalised = (pictures - trained.mean(axis=(0, 1, 2))) / trained.std(axis=(0, 1, 2))
last = torch.tensor(normalised[-1]).permute(2, 0, 1)[None]

print("times,channel,row,column,value")
for times in (1, 2, 4, 5):
    size = (2 * times, 3 * times)
    out = torch.nn.functional.interpolate(last, size=size, mode="bilinear", align_corners=False, antialias=True)[0]
    for channel in range(CHANNELS):
        for row in range(size[0]):
            for column in range(size[1]):
                print(f"{times},{channel},{row},{column},{out[channel, row, column].item():.15g}")
