#!/bin/sh
# Usage: tests/check_layers.sh [SOURCE_ROOT]
# Fails on an #include against the direction of the layers, on an include cycle between files or folders, and on a
# folder or header that belongs to no layer. Prints file:line of each offence. (Circles of files that use each
# other without an #include are check_circles.sh's.)
#
# A file of src/<layer>/, or of a folder in it, may include "<layer>/<layer>.h" of its own layer and of those it may use,
# and the private headers of its own layer; src/<layer>/<layer>.h, which is what a layer offers, follows the same rule,
# without private headers.
# include/ropescope.h is for programs. An #include inside a comment or an inactive #if counts too: what is commented out
# today is compiled tomorrow.
set -eu

# Each room, then what it may use besides itself. Within pages, plot reads results folders alone: it is a library of its
# own that links with base and io.
layers='
base:
io: base
kernel: base
encoding: base kernel
attention: base kernel encoding io
model: base kernel encoding attention io
hf: base kernel encoding attention model io
metrics: base kernel encoding attention model io
config: base kernel encoding attention model hf metrics io
train: base kernel encoding attention model hf metrics io config
run: base kernel encoding attention model hf metrics io config train
advice: base kernel encoding attention model hf metrics io config train run
pages: base kernel encoding attention model hf metrics io config train run advice
app: base kernel encoding attention model hf metrics io config train run advice pages
api: base kernel encoding attention model hf metrics io config train run advice pages
'

root=${1:-$(dirname -- "$0")/..}
cd -- "$root"
if [ ! -d src ] || [ ! -d include ]; then
    echo "check_layers: no src/ and include/ in $root: give the source root as the first argument" >&2
    exit 2
fi

# shellcheck disable=SC2016 # the $ are awk's
find src include ! -type d -print | LC_ALL=C sort | LC_ALL=C awk -v layers="$layers" '
function offence(where, why) { print where ": " why; offences++ }

# "src/a/../b/x.h" -> "src/b/x.h"; a path that leaves the root keeps its "..".
function normal(path,    part, n, i, out, depth) {
    n = split(path, part, "/"); depth = 0
    for (i = 1; i <= n; i++) {
        if (part[i] == "" || part[i] == ".") continue
        if (part[i] == ".." && depth > 0 && out[depth] != "..") depth--
        else out[++depth] = part[i]
    }
    path = ""
    for (i = 1; i <= depth; i++) path = path (i > 1 ? "/" : "") out[i]
    return path
}

# The layer of a file by its place, or "" when it stands in none; says so once per folder or file.
function layer_of(file,    part, n, name) {
    n = split(file, part, "/")
    if (part[1] == "src") {
        if (n < 3) {
            if (file ~ /\.(c|h|inc)$/) offence(file ":1", "a source file outside the layers: move it to src/<layer>/")
            return ""
        }
        if (part[2] in allowed) return part[2]
        if (!(part[2] in told)) offence("src/" part[2] ":1", "unknown folder: a layer is one of " names)
        told[part[2]] = 1
        return ""
    }
    if (file == "include/ropescope.h") return "api" # for programs: what is installed
    offence(file ":1", "a header outside the layers: it is src/<layer>/<layer>.h, a layer being one of " names)
    return ""
}

function edge(from, to, where) {
    if (!((from, to) in first)) { first[from, to] = where; next_of[from] = next_of[from] SUBSEP to }
}

# One #include "name" (quoted) or <name> of a file of this layer; where is file:line.
function check(file, layer, where, name, quoted,    dir, path, target, n, part) {
    dir = file; sub(/\/[^\/]*$/, "", dir)
    path = normal(dir "/" name)
    if (quoted && (path in exists || (path ".in") in exists)) target = path
    else if (normal("src/" name) in exists) target = normal("src/" name)
    else if (normal("include/" name) in exists) target = normal("include/" name)
    else if (name ~ /^(src|include)\// && normal(name) in exists) target = normal(name)
    else if (!quoted && !(name ~ /\.\./ && path ~ /^(src|include|\.\.)(\/|$)/)) return # of the system, or of a library
    else {
        offence(where, "\"" name "\" is neither in " dir "/ nor <layer>/<layer>.h (a system header takes <>)")
        return
    }
    edge(file, target, where)
    if (target == "include/ropescope.h") {
        if (layer != "api") offence(where, "ropescope.h is for programs: a layer includes <layer>/<layer>.h")
        return
    }
    n = split(target, part, "/")
    if (target == "src/" part[2] "/" part[2] ".h" && part[2] in allowed) {
        if (part[2] == layer) return
        if (name != part[2] "/" part[2] ".h") offence(where, "write it as \"" part[2] "/" part[2] ".h\"")
        edge(layer, part[2], where)
        if (index(" " allowed[layer] " ", " " part[2] " ") == 0)
            offence(where, layer " may not include " part[2] "/" part[2] ".h; it may use" \
                (allowed[layer] == "" ? " no other layer" : ":" allowed[layer]))
        return
    }
    if (file == "src/" layer "/" layer ".h") offence(where, "the header of " layer " includes the private " target)
    else if (part[2] != layer) offence(where, layer " includes " target ", which is private to " part[2])
    if (part[2] != layer && part[2] in allowed) edge(layer, part[2], where)
}

# Depth first; an edge back into the path walked (way[1..depth]) closes a cycle.
function walk(node, depth,    to, n, i, k, path) {
    state[node] = 1; way[depth] = node
    n = split(next_of[node], to, SUBSEP)
    for (i = 2; i <= n; i++) {
        if (state[to[i]] == 1) {
            path = to[i]
            for (k = depth; way[k] != to[i]; k--) path = way[k] " -> " path
            offence(first[node, to[i]], "closes an include cycle: " to[i] " -> " path)
        } else if (!state[to[i]]) walk(to[i], depth + 1)
    }
    state[node] = 2
}

BEGIN {
    n = split(layers, row, "\n")
    for (i = 1; i <= n; i++) {
        if (row[i] == "") continue
        name = row[i]; sub(/:.*/, "", name)
        uses = row[i]; sub(/^[^:]*:/, "", uses)
        allowed[name] = uses; names = names (names == "" ? "" : ", ") name
    }
}
{ files[++count] = $0; exists[$0] = 1 }
END {
    for (f = 1; f <= count; f++) {
        file = files[f]
        layer = layer_of(file)
        if (layer == "" || file !~ /\.(c|h|inc|in)$/) continue
        scanned++
        for (line = 1; (got = (getline text < file)) > 0; line++) {
            if (text !~ /^[ \t]*(\/\*.*\*\/)?[ \t]*#[ \t]*include/) continue
            where = file ":" line
            sub(/^[^#]*#[ \t]*include(_next)?[ \t]*/, "", text)
            split(text, piece, /["<>]/)
            if (text ~ /^"[^"]+"/ || text ~ /^<[^>]+>/) check(file, layer, where, piece[2], text ~ /^"/)
            else offence(where, "an #include through a macro cannot be checked: name the header")
        }
        if (got < 0) offence(file ":1", "cannot be read")
        close(file)
    }
    for (f = 1; f <= count; f++) if (!state[files[f]]) walk(files[f], 1)
    for (name in allowed) if (!state[name]) walk(name, 1)
    if (!scanned) offence("src:1", "no source file found")
    if (offences) {
        print "check_layers: " offences (offences > 1 ? " offences" : " offence") > "/dev/stderr"
        exit 1
    }
    print "check_layers: " scanned " files keep the layers"
}'
