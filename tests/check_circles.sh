#!/bin/sh
# Usage: tests/check_circles.sh [SOURCE_ROOT]
# Fails on a circle of files: a.c uses what b.c defines, and b.c, directly or through others, uses what a.c defines.
# Such files are one file in disguise: none can be read, tested or changed alone. Prints the files of each circle, and
# a shortest loop in it, each step with its line and the name that makes it.
#
# It reads sources alone. What a .c file defines for others is each function or object at file scope that is not
# static; what it uses is every other identifier in it. A macro or inline function of a header uses what stands in its
# body; a file that names it uses it. So a header belongs to whatever implements it, and closes no circle by being
# included. (Circles of #includes are check_layers.sh's.)
set -eu

root=${1:-$(dirname -- "$0")/..}
cd -- "$root"
if [ ! -d src ] || [ ! -d include ]; then
    echo "check_circles: no src/ and include/ in $root: give the source root as the first argument" >&2
    exit 2
fi

# shellcheck disable=SC2016 # the $ are awk's
{
    find include src -name '*.h' -type f -print | LC_ALL=C sort
    find src -name '*.c' -type f -print | LC_ALL=C sort
} | LC_ALL=C awk '
# ---- what stands in a file ------------------------------------------------------------------------------------------

# A node is a .c file, or "header:name" for a macro or inline function.
function add_node(node) {
    if (!(node in uses)) { uses[node] = ""; nodes[++node_count] = node }
}

# The left side of a ## stands for what it begins: rs_decay_##isa for rs_decay.
function use(node, name) {
    sub(/_$/, "", name)
    if ((node, name) in line_of) return
    line_of[node, name] = line; uses[node] = uses[node] " " name
}

function define(name) {
    if (!(name in definer)) definer[name] = node
}

# The text without comments; `comment` says whether one runs on. Strings and characters become 0.
function strip(text,    out, mark, end) {
    for (;;) {
        if (comment) {
            if ((end = index(text, "*/")) == 0) return out
            text = substr(text, end + 2); comment = 0
        }
        if (!match(text, /\/\*|\/\/|["\047]/)) return out text
        out = out substr(text, 1, RSTART - 1) " "
        mark = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
        if (mark == "//") return out
        if (mark == "/*") { comment = 1; continue }
        while (text != "" && substr(text, 1, 1) != mark) text = substr(text, substr(text, 1, 1) == "\\" ? 3 : 2)
        text = substr(text, 2); out = out "0"
    }
}

# The body of a macro belongs to the macro in a header, to the file elsewhere.
function read_macro(text,    name) {
    sub(/^[ \t]*#[ \t]*define[ \t]+/, "", text)
    match(text, /^[A-Za-z_0-9]+/)
    name = substr(text, 1, RLENGTH); text = substr(text, RLENGTH + 1)
    node = file
    if (header) { node = file ":" name; add_node(node); define(name) }
    if (text ~ /(^|[^A-Za-z_])static([^A-Za-z_]|$)/) hides[name] = 1 # as RS_INLINE does
    for (; match(text, /[A-Za-z_][A-Za-z_0-9]*/); text = substr(text, RSTART + RLENGTH))
        use(node, substr(text, RSTART, RLENGTH))
}

function begin_declaration() {
    split("", words); word_count = 0; in_function = 0; node = header ? "" : file
}

# Of the declaration in `words`: its name is what stands before the first (, [ or =. A name in capitals is a macro,
# whose argument is the name, as in RS_OF_ISA(rs_decay).
function inspect(    i, word) {
    name = ""; call = 0; inner = 0; external = 0
    if (words[1] ~ /^RS_API_(GET|AT)$/) { # (type, function, ...), which defines it
        for (i = 3; i < word_count && words[i] != ","; i++) continue
        name = words[i + 1]
        return
    }
    for (i = 1; i <= word_count; i++) {
        word = words[i]
        inner = inner || word == "static" || (word in hides); external = external || word == "extern" || word == "typedef"
        if (word == "=" || word == "[") return
        if (word == "(" && name ~ /[a-z]/ && name !~ /^__/ && words[i - 1] == name) { call = 1; return }
        if (word ~ /^[A-Za-z_]/) name = word
    }
}

# A function begins.
function open_function() {
    in_function = 1
    if (header) { node = file ":" name; add_node(node); define(name) }
    else if (inner) private[file, name] = 1
    else define(name)
}

# A declaration without a function body ends: it may define an object.
function end_declaration() {
    inspect()
    if (header || external || call || words[1] ~ /^(struct|enum|union)$/ && word_count < 3) return
    if (name == "" || words[1] == "_Static_assert") return
    if (inner) private[file, name] = 1
    else define(name)
}

function read_word(word) {
    if (word == "{" && depth++ == 0) {
        inspect()
        if (call) open_function()
    }
    if (word == "}") {
        if (--depth == 0 && in_function) begin_declaration()
        return
    }
    if (word ~ /^[A-Za-z_]/ && node != "") use(node, word)
    if (depth == 0 && word == ";") { end_declaration(); begin_declaration() }
    else if (depth == 0) words[++word_count] = word
}

function read_file(    text, more, begin) {
    header = file ~ /\.h$/; comment = 0; depth = 0
    begin_declaration()
    if (!header) add_node(file)
    for (line = 1; (getline text < file) > 0; line++) {
        begin = line
        while (text ~ /\\$/ && (getline more < file) > 0) { text = substr(text, 1, length(text) - 1) more; line++ }
        text = strip(text)
        if (text ~ /^[ \t]*#/) {
            if (text ~ /^[ \t]*#[ \t]*define[ \t]/) { more = node; read_macro(text); node = more }
            continue
        }
        for (; match(text, /[A-Za-z_][A-Za-z_0-9]*|[<>=!]=|[^ \t]/); text = substr(text, RSTART + RLENGTH))
            read_word(substr(text, RSTART, RLENGTH))
    }
    close(file)
    if (depth != 0) { print file ":" line ": braces do not balance: this script cannot read the file"; offences++ }
}

# ---- the circles ----------------------------------------------------------------------------------------------------

# next_of[node]: the nodes that it uses; step[from, to]: a name by which.
function link(    n, i, k, count, name, node, to) {
    for (n = 1; n <= node_count; n++) {
        node = nodes[n]
        count = split(uses[node], name, " ")
        for (i = 1; i <= count; i++) {
            if (!(name[i] in definer) || (node, name[i]) in private) continue
            to = definer[name[i]]
            if (to == node || (node, to) in step) continue
            step[node, to] = name[i]; next_of[node] = next_of[node] SUBSEP to
        }
    }
}

# Tarjan, SIAM J. Comput. 1 (1972): nodes that reach each other get the same circle.
function visit(node,    to, n, i, top) {
    order[node] = low[node] = ++visited; stack[++height] = node; open[node] = 1
    n = split(next_of[node], to, SUBSEP)
    for (i = 2; i <= n; i++) {
        if (!(to[i] in order)) { visit(to[i]); if (low[to[i]] < low[node]) low[node] = low[to[i]] }
        else if (open[to[i]] && order[to[i]] < low[node]) low[node] = order[to[i]]
    }
    if (low[node] != order[node]) return
    circle_count++
    do {
        top = stack[height--]; open[top] = 0; circle[top] = circle_count; size[circle_count]++
        if (top !~ /:/) members[circle_count] = top " " members[circle_count]
    } while (top != node)
}

# The shortest way from `start` back to it, backwards in way[1..]: its steps; 0: there is none.
function find_loop(start, way,    queue, head, tail, to, n, i, from, count) {
    split("", from); queue[tail = 1] = start
    for (head = 1; head <= tail; head++) {
        n = split(next_of[queue[head]], to, SUBSEP)
        for (i = 2; i <= n; i++) {
            if (circle[to[i]] != circle[start] || to[i] in from) continue
            from[to[i]] = queue[head]; queue[++tail] = to[i]
            if (to[i] != start) continue
            way[count = 1] = start
            do way[count + 1] = from[way[count]]; while (way[++count] != start)
            return count - 1
        }
    }
    return 0
}

function report(number,    name, n, i, loop, best, way, shortest) {
    n = split(members[number], name, " ")
    for (i = 1; i <= n; i++) {
        split("", way); loop = find_loop(name[i], way)
        if (loop > 0 && (!best || loop < best)) { best = loop; shortest = name[i] }
    }
    print "circle of " n " files: " members[number]
    split("", way)
    for (i = find_loop(shortest, way); i >= 1; i--) {
        name[1] = way[i + 1]; sub(/:.*/, "", name[1]); name[2] = way[i]; sub(/:.*/, "", name[2])
        print "  " name[1] ":" line_of[way[i + 1], step[way[i + 1], way[i]]] ": uses " step[way[i + 1], way[i]] \
            " of " name[2]
    }
    offences++
}

{ file = $0; read_file(); scanned++ }
END {
    link()
    for (n = 1; n <= node_count; n++) if (!(nodes[n] in order)) visit(nodes[n])
    for (n = 1; n <= circle_count; n++) if (size[n] > 1) report(n)
    if (!scanned) { print "src:1: no source file found"; offences++ }
    if (offences) {
        print "check_circles: " offences (offences > 1 ? " offences" : " offence") > "/dev/stderr"
        exit 1
    }
    print "check_circles: " scanned " files, no circle"
}'
