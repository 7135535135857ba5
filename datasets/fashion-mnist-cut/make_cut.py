#!/usr/bin/env python3
"""Cuts fashion-mnist-cut out of Fashion-MNIST. For maintainers; neither the build nor a user ever runs it.

    make_cut.py [SOURCE] [TARGET]    SOURCE: the four .gz files, default /usr/share/datasets/fashion-mnist (Debian's
                                     package dataset-fashion-mnist); TARGET: default the folder of this script

Takes the first 1,000 images of each class from the training file and the first 100 of each class from the test file,
in the order in which they lie there. Nothing is drawn at random, so nothing can be picked to please. The same bytes
come out every time: gzip at level 9 with no name and no time in its header (zlib 1.2.13; another zlib may pack
differently, but what it packs is the same, and that is what the checksums below are of).
"""

import gzip
import hashlib
import io
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = 10
PIXELS = 28 * 28
PER_CLASS = {"train": 1000, "t10k": 100}
SOURCE_SHA256 = {  # of the unpacked files
    "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}
CUT_SHA256 = {
    "train-images-idx3-ubyte": "d33512cfdc636a0d8972818e6659995be209a88891df7fa2109d7895922c8985",
    "train-labels-idx1-ubyte": "620cb8e3b9348037c5ff9a07b02d773ab165330e072dfd19e0d21c59f8042dcf",
    "t10k-images-idx3-ubyte": "7cee33c3c6414b1b86c25e665a6c4f41584269de3b7cc9768b1d351922845eef",
    "t10k-labels-idx1-ubyte": "3128d790775889812b73c4f13923559c8b9e281d112c6ea7862acf60a206a909",
}


def read(folder, name):
    data = gzip.decompress((folder / (name + ".gz")).read_bytes())
    digest = hashlib.sha256(data).hexdigest()
    if digest != SOURCE_SHA256[name]:
        sys.exit(f"{folder / name}.gz is not Fashion-MNIST: sha256 {digest}, expected {SOURCE_SHA256[name]}")
    return data


def write(folder, name, data):
    digest = hashlib.sha256(data).hexdigest()
    if digest != CUT_SHA256[name]:
        sys.exit(f"{name}: the cut came out different: sha256 {digest}, expected {CUT_SHA256[name]}")
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as out:
        out.write(data)
    (folder / (name + ".gz")).write_bytes(packed.getvalue())
    print(f"{digest}  {name}  ({len(data)} bytes, {len(packed.getvalue())} packed)")


def cut(source, target, part):
    images, labels = read(source, f"{part}-images-idx3-ubyte")[16:], read(source, f"{part}-labels-idx1-ubyte")[8:]
    taken = [0] * CLASSES
    chosen = []
    for i, label in enumerate(labels):
        if taken[label] < PER_CLASS[part]:
            taken[label] += 1
            chosen.append(i)
    assert taken == [PER_CLASS[part]] * CLASSES
    pixels = b"".join(images[i * PIXELS : (i + 1) * PIXELS] for i in chosen)
    write(target, f"{part}-images-idx3-ubyte", struct.pack(">IIII", 0x803, len(chosen), 28, 28) + pixels)
    write(target, f"{part}-labels-idx1-ubyte", struct.pack(">II", 0x801, len(chosen)) + bytes(labels[i] for i in chosen))


def main():
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist")
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE
    for part in PER_CLASS:
        cut(source, target, part)


if __name__ == "__main__":
    main()
