#!/usr/bin/env python3
"""test_text_ids.py ROOT: tools/text_ids.py with a tokenizer of one id a byte in llama.cpp's place: what is taken of
HTML, of verses and of gzip, how texts follow each other, and the file of ids with its digest."""
import contextlib
import gzip
import hashlib
import io
import os
import sys
import tempfile
import types

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(sys.argv[1]), "tools"))
import text_ids  # noqa: E402

PAGE = """<html><head><title>not this</title><style>nor this</style></head><body><h1>One   heading</h1>
<p>A <b>bold</b>
word &amp; more.</p><ul><li>first</li><li>second</li></ul><script>let not = this;</script>
<pre>kept   as
  it stands</pre></body></html>"""
WORDS = "One heading\n\nA bold word & more.\n\nfirst\n\nsecond\n\nkept   as\n  it stands"
VERSES = "Ge1:1 In the beginning\nGe1:2 And Ge1:3 stays within\n2Sam12:31 so\n"
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


class Bytes:
    """llama_cpp.Llama of one id a byte; it says how it was called."""

    size, calls = 256, []

    def __init__(self, path, vocab_only, verbose):
        self.calls.append((path, vocab_only))

    def n_vocab(self):
        return self.size

    def tokenize(self, text, add_bos, special):
        self.calls.append((add_bos, special))
        return list(text)


def run(folder, *arguments):
    sys.argv = ["text_ids.py", "model.gguf", *arguments, "--out", os.path.join(folder, "ids.npy")]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        text_ids.main()
    with open(os.path.join(folder, "ids.npy"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return numpy.load(os.path.join(folder, "ids.npy")), digest, said.getvalue()


sys.modules["llama_cpp"] = types.SimpleNamespace(Llama=Bytes)
with tempfile.TemporaryDirectory() as folder:
    page, verses, packed = (os.path.join(folder, name) for name in ("page.html", "verses.txt", "page.htm.gz"))
    with open(page, "w", encoding="utf-8") as file:
        file.write(PAGE)
    with open(verses, "w", encoding="utf-8") as file:
        file.write(VERSES)
    with gzip.open(packed, "wt", encoding="utf-8") as file:
        file.write(PAGE)

    expect(text_ids.read(page, False) == WORDS, f"of a page its words: {text_ids.read(page, False)!r}")
    expect(text_ids.read(packed, False) == WORDS, "of a page in gzip the same")
    expect(text_ids.read(verses, False) == VERSES, "a text stays as it is")
    expect(text_ids.read(verses, True) == "In the beginning\nAnd Ge1:3 stays within\nso\n", "verses lose their places")

    ids, digest, said = run(folder, verses, page)
    expect(bytes(ids.tolist()).decode() == VERSES + "\n\n" + WORDS, "texts follow each other in their order")
    expect(ids.dtype == numpy.dtype("<u2"), "small vocabularies are uint16")
    expect(digest in said and f"{len(ids)} ids" in said, f"the line says how many, and their digest: {said!r}")
    expect(Bytes.calls[0] == ("model.gguf", True), "the vocabulary alone is read")
    expect(Bytes.calls[1] == (False, False), "no token is added, and no control token read")

    Bytes.size = 65536
    expect(run(folder, page)[0].dtype == numpy.dtype("<u2"), "65536 ids fit uint16")
    Bytes.size = 65537
    expect(run(folder, page)[0].dtype == numpy.dtype("<u4"), "65537 do not")

print(f"test_text_ids: {len(failures)} failures")
sys.exit(1 if failures else 0)
