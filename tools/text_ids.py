#!/usr/bin/env python3
"""Writes texts as the token ids of a GGUF file's tokenizer (pip install llama-cpp-python numpy).

    tools/text_ids.py MODEL.gguf book.txt chapter*.html --out ids.npy

The texts follow each other in that order, an empty line between two. Of HTML it takes the words of paragraphs, titles,
lists and listings; gzip is unpacked, and --verses drops the place that begins each line of Debian's `bible -f`
("Ge1:1"). No token is added before a text, and words of control tokens are read as the letters that they are. Ids are
uint16 where the vocabulary fits that, else uint32; the last line says how many there are, and their SHA-256.
"""
import argparse
import gzip
import hashlib
import html.parser
import re

import numpy


class Words(html.parser.HTMLParser):
    """The text of a page: a line for each block, listings as they stand."""

    BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "dt", "dd", "tr", "pre", "div", "title", "table"}
    SILENT = {"script", "style", "head"}

    def __init__(self):
        super().__init__()
        self.parts, self.silent, self.listing = [], 0, 0

    def handle_starttag(self, tag, attrs):
        self.silent += tag in self.SILENT
        self.listing += tag == "pre"
        if tag in self.BLOCKS or tag == "br":
            self.parts.append("\n")

    def handle_endtag(self, tag):
        self.silent -= tag in self.SILENT
        self.listing -= tag == "pre"
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.silent:
            self.parts.append(data if self.listing else re.sub(r"\s+", " ", data))

    def text(self):
        return re.sub(r"\n\s*\n+", "\n\n", re.sub(r"[ \t]+\n", "\n", "".join(self.parts))).strip()


def read(path, verses):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        text = file.read().decode("utf-8")
    if re.search(r"\.html?(\.gz)?$", path):
        words = Words()
        words.feed(text)
        words.close()
        text = words.text()
    return re.sub(r"^\S+\d+:\d+ ", "", text, flags=re.M) if verses else text


def main():
    import llama_cpp  # here, so that the rest is tested without it

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", help="a GGUF file; its vocabulary alone is read")
    parser.add_argument("texts", nargs="+", help="plain text or HTML, also compressed by gzip")
    parser.add_argument("--verses", action="store_true", help="drop the places that begin lines")
    parser.add_argument("--out", required=True, help="the .npy file to write")
    options = parser.parse_args()
    model = llama_cpp.Llama(options.model, vocab_only=True, verbose=False)
    text = "\n\n".join(read(path, options.verses) for path in options.texts)
    ids = numpy.array(model.tokenize(text.encode(), add_bos=False, special=False))
    numpy.save(options.out, ids.astype("<u2" if model.n_vocab() <= 1 << 16 else "<u4"))
    with open(options.out, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    print(f"{options.out}: {len(ids)} ids of {len(text)} characters, {len(text) / len(ids):.2f} a token, {digest}")


if __name__ == "__main__":
    main()
