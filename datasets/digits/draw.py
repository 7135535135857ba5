#!/usr/bin/env python3
"""Draws the ten digits of this folder. For maintainers; neither the build nor a user ever runs it.

    draw.py [TARGET]              0.png .. 9.png into TARGET, default the folder of this script
    draw.py --photos SEED TARGET  20 others, to check the loader with: other shapes, pens and places, and the second
                                  ten like photographs, with a shadow, an uneven light and noise

A digit is a few strokes, each a curve through points that a seed moves a little, drawn with a round pen: no font and
nobody's handwriting. The same bytes come out every time, but for what another zlib packs differently.
"""

import pathlib
import random
import struct
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent

# Strokes of each digit: points (x, y) from 0 to 1, y downwards.
DIGITS = {
    0: [[(0.52, 0.02), (0.22, 0.14), (0.08, 0.5), (0.24, 0.88), (0.52, 0.98), (0.82, 0.84), (0.92, 0.48), (0.78, 0.12), (0.5, 0.02)]],
    1: [[(0.32, 0.2), (0.56, 0.02), (0.54, 0.5), (0.52, 0.98)]],
    2: [[(0.14, 0.22), (0.34, 0.04), (0.64, 0.04), (0.82, 0.24), (0.66, 0.52), (0.34, 0.78), (0.12, 0.96)],
        [(0.12, 0.96), (0.5, 0.93), (0.9, 0.95)]],
    3: [[(0.16, 0.12), (0.44, 0.02), (0.74, 0.1), (0.78, 0.3), (0.6, 0.45), (0.4, 0.48)],
        [(0.4, 0.48), (0.7, 0.52), (0.86, 0.72), (0.7, 0.92), (0.4, 0.98), (0.12, 0.86)]],
    4: [[(0.6, 0.02), (0.34, 0.34), (0.08, 0.64)], [(0.08, 0.64), (0.5, 0.63), (0.94, 0.62)], [(0.66, 0.32), (0.65, 0.66), (0.63, 0.98)]],
    5: [[(0.84, 0.04), (0.54, 0.05), (0.26, 0.06)], [(0.26, 0.06), (0.22, 0.26), (0.18, 0.44)],
        [(0.18, 0.44), (0.46, 0.36), (0.76, 0.46), (0.86, 0.68), (0.7, 0.9), (0.4, 0.98), (0.12, 0.88)]],
    6: [[(0.7, 0.03), (0.4, 0.2), (0.18, 0.52), (0.16, 0.78), (0.36, 0.97), (0.66, 0.94), (0.8, 0.74), (0.64, 0.55), (0.38, 0.56), (0.18, 0.74)]],
    7: [[(0.1, 0.06), (0.5, 0.05), (0.88, 0.04)], [(0.88, 0.04), (0.62, 0.44), (0.42, 0.98)]],
    8: [[(0.7, 0.14), (0.48, 0.02), (0.24, 0.14), (0.3, 0.36), (0.56, 0.5), (0.8, 0.7), (0.7, 0.92), (0.44, 0.98), (0.2, 0.86), (0.24, 0.66),
         (0.5, 0.48), (0.72, 0.32), (0.7, 0.12)]],
    9: [[(0.78, 0.2), (0.56, 0.03), (0.28, 0.1), (0.2, 0.34), (0.4, 0.5), (0.66, 0.42), (0.78, 0.2)], [(0.78, 0.18), (0.76, 0.5), (0.7, 0.98)]],
}
OTHER = {  # another hand: the same digits as some write them
    1: [[(0.3, 0.22), (0.52, 0.02), (0.52, 0.96)], [(0.26, 0.97), (0.78, 0.96)]],
    2: [[(0.18, 0.28), (0.28, 0.06), (0.6, 0.02), (0.78, 0.22), (0.62, 0.56), (0.24, 0.9), (0.2, 0.82), (0.4, 0.8), (0.62, 0.94), (0.88, 0.88)]],
    4: [[(0.28, 0.04), (0.2, 0.3), (0.16, 0.52)], [(0.16, 0.52), (0.5, 0.52), (0.84, 0.5)], [(0.74, 0.06), (0.7, 0.5), (0.66, 0.98)]],
    7: [[(0.12, 0.1), (0.48, 0.06), (0.84, 0.04)], [(0.84, 0.04), (0.58, 0.5), (0.46, 0.98)], [(0.34, 0.52), (0.78, 0.48)]],
    9: [[(0.8, 0.16), (0.5, 0.02), (0.22, 0.2), (0.34, 0.46), (0.64, 0.42), (0.8, 0.16), (0.78, 0.6), (0.62, 0.9), (0.3, 0.96)]],
}


def curve(points, steps=12):
    """A Catmull-Rom spline through the points, as short straight pieces."""
    ends = [points[0]] + points + [points[-1]]
    line = []
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:]):
        for i in range(steps):
            t = i / steps
            line.append(tuple(0.5 * (2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t * t + (3 * q - p - 3 * r + s) * t ** 3)
                              for p, q, r, s in zip(a, b, c, d)))
    return line + [points[-1]]


def cover(width, height, lines, pen):
    """How much of each pixel a round pen covers, 0 to 1; the pen grows and shrinks a little along the way."""
    covered = [0.0] * (width * height)
    for line in lines:
        for k, ((x0, y0), (x1, y1)) in enumerate(zip(line, line[1:])):
            radius = pen / 2 * (1 + 0.08 * ((k * 7 % 13) / 6 - 1))
            reach = radius + 1
            length = (x1 - x0) ** 2 + (y1 - y0) ** 2
            for y in range(max(0, int(min(y0, y1) - reach)), min(height, int(max(y0, y1) + reach) + 2)):
                for x in range(max(0, int(min(x0, x1) - reach)), min(width, int(max(x0, x1) + reach) + 2)):
                    px, py = x + 0.5 - x0, y + 0.5 - y0
                    t = 0 if length == 0 else min(1, max(0, (px * (x1 - x0) + py * (y1 - y0)) / length))
                    away = ((px - t * (x1 - x0)) ** 2 + (py - t * (y1 - y0)) ** 2) ** 0.5
                    at = y * width + x
                    covered[at] = max(covered[at], min(1, max(0, radius + 0.5 - away)))
    return covered


def strokes(rng, shape, box, shake, slant):
    left, top, wide, high = box
    lines = []
    for stroke in shape:
        points = [(x + rng.uniform(-shake, shake), y + rng.uniform(-shake, shake)) for x, y in stroke]
        lines.append(curve([(left + wide * (x + slant * (0.5 - y)), top + high * y) for x, y in points]))
    return lines


def png(path, width, height, channels, pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(pixels[y * width * channels : (y + 1) * width * channels]) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def draw_ten(target):
    """As in a paint program: plain paper, ink of one level; every third on grey paper, every fourth off the centre."""
    for digit in range(10):
        rng = random.Random(1000 + digit)
        width, height = 200, 260
        wide, high = (60 if digit == 1 else 110) + rng.uniform(-8, 8), 180 + rng.uniform(-12, 12)
        left, top = (width - wide) / 2, (height - high) / 2
        if digit % 4 == 3:
            left, top, wide, high = left + rng.uniform(-35, 35), top + rng.uniform(-30, 30), wide * 0.7, high * 0.7
        lines = strokes(rng, DIGITS[digit], (left, top, wide, high), 0.015, rng.uniform(-0.05, 0.2))
        covered = cover(width, height, lines, rng.uniform(13, 20))
        paper, ink = (205, 45) if digit % 3 == 2 else (255, 0)
        levels = [round(paper + (ink - paper) * c) for c in covered]
        if digit % 2 == 0:
            png(target / f"{digit}.png", width, height, 1, levels)
        else:  # most paint programs write colours, even of grey
            tint = (0, 0, 60) if digit == 5 else (0, 0, 0)  # a blue pen
            colours = [min(255, level + t * round(c)) for level, c in zip(levels, covered) for t in tint]
            png(target / f"{digit}.png", width, height, 3, colours)


def draw_photos(seed, target):
    target.mkdir(parents=True, exist_ok=True)
    for i in range(20):
        digit, rng = i % 10, random.Random(seed * 100 + i)
        width, height = rng.choice([(160, 200), (240, 180), (280, 280), (200, 320)])
        high = height * rng.uniform(0.4, 0.85)
        wide = min(high * rng.uniform(0.45, 0.75), width * 0.8) * (0.5 if digit == 1 else 1)
        left, top = rng.uniform(8, width - wide - 8), rng.uniform(8, height - high - 8)
        shape = OTHER.get(digit, DIGITS[digit]) if rng.random() < 0.5 else DIGITS[digit]
        lines = strokes(rng, shape, (left, top, wide, high), 0.03, rng.uniform(-0.15, 0.35))
        covered = cover(width, height, lines, max(3.0, high * rng.uniform(0.04, 0.13)))
        paper, ink = rng.uniform(190, 255), rng.uniform(0, 70)
        if i < 10 and rng.random() < 0.3:
            paper, ink = ink, paper  # chalk
        light = [1.0] * (width * height)
        if i >= 10:
            ink = paper * rng.uniform(0.15, 0.45)
            dx, dy, edge = rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), rng.uniform(0.3, 0.7)
            turn, soft, dark = rng.uniform(-1, 1), rng.uniform(2, 60), rng.uniform(0.45, 0.8)
            for y in range(height):
                for x in range(width):
                    far = (x / width - edge + turn * (y / height - 0.5)) * width / soft
                    shadow = dark + (1 - dark) / (1 + 2.718281828 ** max(-30.0, min(30.0, -far)))
                    light[y * width + x] = shadow * (1 + 0.4 * (dx * (x / width - 0.5) + dy * (y / height - 0.5)))
        noise = rng.uniform(4, 14) if i >= 10 else 0
        pixels = []
        for c, l in zip(covered, light):
            level = (paper + (ink - paper) * c) * l + (rng.gauss(0, noise) if noise else 0)
            pixels.append(max(0, min(255, round(level))))
        png(target / f"{digit}-{'photo' if i >= 10 else 'drawn'}.png", width, height, 1, pixels)


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--photos":
        draw_photos(int(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        draw_ten(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)


if __name__ == "__main__":
    main()
