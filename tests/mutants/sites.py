"""Where a C source can be changed by one small mistake, and into what.

Sites lie inside functions. Left out by rule, since no test could tell or should:
  - text, comments, directives of the preprocessor;
  - what stands in the parentheses of assertions and of what only words a message (WORDING), sizes of text buffers;
  - deleting what only releases memory (RELEASING): the leak check of the sanitized build is there for that."""
import re
from typing import NamedTuple

WORDING = re.compile(r"(rs_fail\w*|rs_err_\w+|assert|static_assert|_Static_assert|sizeof|printf|fprintf)$")
BUFFER = re.compile(r"\bchar \w+\[$")
RELEASING = re.compile(r"(free|fclose|close|closedir|\w+_(free|clear|close|destroy|decref|delete|unref))$")

SWAPS = {
    "<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
    "&&": ["||"], "||": ["&&"], "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"],
}
TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      |(?P<number>(?<![\w.])(?:0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+)?
                  |\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)[uUlLfF]*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|[-+*/%<>=!&|^~?:;,.(){}\[\]])""",
    re.X | re.S)


class Site(NamedTuple):
    file: str
    line: int
    begin: int  # in the file's text
    end: int
    into: str
    what: str


class Token(NamedTuple):
    kind: str
    text: str
    begin: int
    end: int


def without_directives(text):
    """The text with preprocessor lines, continued ones too, as blanks of the same length."""
    return re.sub(r"(?m)^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def tokens_of(text):
    return [Token(m.lastgroup, m.group(), m.start(), m.end())
            for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def closing(tokens, i):
    """The index of what closes the parenthesis at i."""
    depth = 0
    for j in range(i, len(tokens)):
        if tokens[j].text in "([{":
            depth += 1
        elif tokens[j].text in ")]}":
            depth -= 1
            if depth == 0:
                return j
    return len(tokens) - 1


def worded(tokens):
    """The indices of tokens inside messages and assertions."""
    inside = set()
    for i, token in enumerate(tokens[:-1]):
        if token.kind == "word" and WORDING.match(token.text) and tokens[i + 1].text == "(":
            inside.update(range(i, closing(tokens, i + 1) + 1))
    return inside


def binary(text, token):
    """clang-format puts spaces on both sides of binary operators and of no others."""
    return text[token.begin - 1].isspace() and text[token.end].isspace()


def other_numbers(literal):
    match = re.match(r"(.*?)([uUlLfF]*)$", literal)
    if re.match(r"0[xX]", literal):
        return []
    digits, suffix = match.groups()
    if re.search(r"[.eE]", digits):
        value = float(digits)
        return [repr(2 * value if value else 1.0) + suffix]
    value = int(digits, 8 if re.match(r"0\d", digits) else 10)
    return [f"{value + 1}{suffix}"] + ([f"{value - 1}{suffix}"] if value > 0 else [])


def changes_of_token(text, tokens, i):
    token = tokens[i]
    if token.kind == "operator" and token.text in SWAPS and binary(text, token):
        for other in SWAPS[token.text]:
            yield token.begin, token.end, other, "operator"
    elif token.text == "!":
        yield token.begin, token.end, "", "negation dropped"
    elif token.kind == "number" and not BUFFER.search(text, max(0, token.begin - 80), token.begin):
        for other in other_numbers(token.text):
            yield token.begin, token.end, other, "constant"
    elif token.text in ("true", "false"):
        yield token.begin, token.end, "false" if token.text == "true" else "true", "constant"
    elif token.text in ("if", "while") and tokens[i + 1].text == "(":
        last = tokens[closing(tokens, i + 1)]
        begin = tokens[i + 1].end
        yield begin, last.begin, f"!({text[begin:last.begin]})", "condition negated"
    elif token.text in ("fmax", "fmin", "fmaxf", "fminf") and tokens[i + 1].text == "(":
        yield from clamp_changes(text, tokens, i)
    elif token.text in ("break", "continue"):
        yield token.begin, token.end, "", "statement deleted"


def clamp_changes(text, tokens, i):
    """fmax(a, b) becomes a, and b."""
    last = closing(tokens, i + 1)
    depth = 0
    for j in range(i + 2, last):
        depth += (tokens[j].text in "([{") - (tokens[j].text in ")]}")
        if depth == 0 and tokens[j].text == ",":
            for begin, end in ((tokens[i + 1].end, tokens[j].begin), (tokens[j].end, tokens[last].begin)):
                yield tokens[i].begin, tokens[last].end, f"({text[begin:end].strip()})", "clamp dropped"
            return


def deletions(text, tokens):
    """Calls and assignments that are statements of their own."""
    depth = 0  # of parentheses: the parts of a for's head are no statements
    for i in range(1, len(tokens)):
        depth += (tokens[i - 1].text in ("(", "[")) - (tokens[i - 1].text in (")", "]"))
        if depth > 0:
            continue
        if tokens[i].kind != "word" or tokens[i - 1].text not in (";", "{", "}", ")"):
            continue
        if tokens[i].text in ("return", "if", "for", "while", "do", "else", "switch", "goto", "case", "break",
                              "continue", "static", "const", "typedef", "struct", "enum"):
            continue
        end = i
        while end < len(tokens) and tokens[end].text not in (";", "{", "}"):
            end = closing(tokens, end) + 1 if tokens[end].text in "([" else end + 1
        if end >= len(tokens) or tokens[end].text != ";":
            continue
        inner = tokens[i:end]
        call = inner[1].text == "(" if len(inner) > 1 else False
        assigns = [t for t in inner if t.text in ("=", "+=", "-=", "*=", "/=", "++", "--", "|=", "&=", "<<=", ">>=")]
        declares = len(inner) > 1 and (inner[1].kind == "word" or (inner[1].text == "*" and inner[2].kind == "word"
                                                                  and not binary(text, inner[1])))
        if declares or not (call or assigns):
            continue
        if call and (RELEASING.match(inner[0].text) or WORDING.match(inner[0].text)):
            continue
        yield tokens[i].begin, tokens[end].begin, "", "statement deleted"


def sites_of(file, text, functions):
    """All sites of a file; `functions` are the (first, last) lines of its functions."""
    lines = set()
    for first, last in functions:
        lines.update(range(first, last + 1))
    bare = without_directives(text)
    tokens = tokens_of(bare)
    inside = worded(tokens)
    starts = {token.begin for i, token in enumerate(tokens) if i in inside}
    found = []
    for i in range(len(tokens)):
        if i not in inside:
            found += changes_of_token(bare, tokens, i)
    found += [d for d in deletions(bare, tokens) if d[0] not in starts]
    sites = []
    for begin, end, into, what in found:
        line = text.count("\n", 0, begin) + 1
        if line in lines:
            sites.append(Site(file, line, begin, end, into, what))
    return sites

