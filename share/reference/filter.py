"""filter.py HEADER: prints ropescope.h as Doxygen reads it, line for line. The header itself stays plain.

Comments before declarations and behind members are marked as theirs. A declaration right below another has its comment,
and functions that free say so. Sections become topics.
"""
import re
import sys

SECTION = re.compile(r"^/\* -{4} (.*?) -{4,} \*/$")
FUNCTION = re.compile(r"^[a-z][\w ]*[ *](ropescope_\w+)\(")
MEMBERS = re.compile(r"^  ([a-z][\w ]*? )(\*?\w+(?:, \*?\w+)+);(\s+)/\*(.*?)\*/", re.MULTILINE | re.DOTALL)
FREED = "Frees the object; NULL is fine."
SIZE = "sizeof of this struct"


def escaped(text: str) -> str:
    """What Doxygen would take for its commands, or for HTML, outside of `words`."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([@#<>])", r"\\\1", part) for part in parts)


def marked(line: str) -> str:
    """A line on which a comment begins."""
    code, *comments = line.split("/*")
    marks = "/**<" if code.strip() else "/**"
    return code + "".join(marks + escaped(comment) for comment in comments)


def section(name: str, number: int) -> str:
    if name.startswith("declarations"):
        return "/** @} */" if name.endswith("end") else ""
    end = "/** @} */ " if number > 0 else ""
    return f"{end}/** @defgroup part{number} {name[0].upper() + name[1:]}\n@{{ */"


def apart(found: re.Match[str]) -> str:
    """Members that share a type and a comment: each with its own, on as many lines."""
    kind, names, _, comment = found.groups()
    words = " ".join(comment.split())
    each = " ".join(f"{kind}{name}; /* {words} */" for name in names.split(", "))
    return "  " + each + "\n" * found[0].count("\n")


def reference(lines: list[str]) -> list[str]:
    out: list[str] = []
    sections = 0
    within = False  # a comment
    above = None  # the function that the lines before declare; "": what is no function
    for number, line in enumerate(lines):
        found, declared = SECTION.match(line), FUNCTION.match(line)
        if within:
            out.append(escaped(line))
        elif number == 0:
            out.append("/** @file\n@mainpage libropescope\n" + escaped(line[len("/* ") :]))
        elif found:
            out.append(section(found[1], sections))
            sections += not found[1].startswith("declarations")
        elif line == "  size_t size;":
            out.append(f"{line} /**< {SIZE} */")
        elif declared and declared[1].endswith("_free"):
            out.append(f"/** {FREED} */ {line}")
        elif declared and above:
            out.append(f"/** @copydoc {above} */ {line}")
        else:
            out.append(marked(line) if "/*" in line else line)
        within = "*/" not in line and (within or "/*" in line)
        if not line or not (declared or line.startswith(" ")):
            above = None
        elif declared:
            above = above or (declared[1] if lines[number - 1] else None)
    return out


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as header:
        text = MEMBERS.sub(apart, header.read())
    print("\n".join(reference(text.split("\n"))))


if __name__ == "__main__":
    main()
