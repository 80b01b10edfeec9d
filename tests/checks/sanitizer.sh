#!/usr/bin/env bash
# Runs compiled programs of the corpus under NVIDIA's compute-sanitizer, on a machine with a GPU.
#   tests/checks/sanitizer.sh PROGRAMS OUT
# PROGRAMS: executables called CHECK.NAME, as `tests/checks/table.py build` makes them. OUT: a folder for
# findings.tsv (program, tool, kind, source line, how often) and the raw logs. Each run has 20 seconds; 8 go at once.
set -euo pipefail

programs=${1:?usage: sanitizer.sh PROGRAMS OUT}
out=${2:?usage: sanitizer.sh PROGRAMS OUT}
seconds=${SANITIZER_SECONDS:-20}
jobs=${SANITIZER_JOBS:-8}

sanitizer=$(command -v compute-sanitizer || true)
for path in /usr/local/cuda/bin /usr/local/cuda*/bin; do
    [[ -n $sanitizer || ! -x $path/compute-sanitizer ]] || sanitizer=$path/compute-sanitizer
done
if [[ -z $sanitizer ]]; then
    echo "sanitizer.sh: there is no compute-sanitizer here: install the CUDA toolkit" >&2
    exit 3
fi
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo "sanitizer.sh: there is no NVIDIA GPU here" >&2
    exit 3
fi

mkdir -p "$out/logs" "$out/parts"
"$sanitizer" --version | grep -i version >"$out/version.txt" || true
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >>"$out/version.txt"

# From one log, one line for each distinct kind and source line: kind, line, how often. The line is that of the first
# frame in a .cu file below the finding: of the kernel, or of the host's call where it has lines. Racecheck's own
# sentence names two frames; both count, as in "12,15".
summarize() {
    awk '
        function flush() { if (kind != "") seen[kind "\t" (line == "" ? "-" : line)]++; kind = ""; line = "" }
        { sub(/^=+ ?/, "") }
        /^ERROR SUMMARY|^LEAK SUMMARY|^RACECHECK SUMMARY|^COMPUTE-SANITIZER|^Target application/ { flush(); next }
        /^(Error|Warning|Info): .*[Rr]ace reported/ {
            flush(); kind = "race"
            text = $0
            while (match(text, /[A-Za-z0-9_.-]+\.cu:[0-9]+/)) {
                place = substr(text, RSTART, RLENGTH); sub(/.*:/, "", place)
                if (index("," line ",", "," place ",") == 0) line = line (line == "" ? "" : ",") place
                text = substr(text, RSTART + RLENGTH)
            }
            next
        }
        /^Invalid |^Misaligned |^Uninitialized |^Barrier error|^Leaked |^Program hit |^Malloc\/Free|^Unused |^Write of |^Read of |^Fatal |^Unspecified |^Error: |^Warning: |^Race condition/ {
            flush(); kind = $0
            gsub(/0x[0-9a-f]+/, "…", kind); gsub(/[0-9][0-9,.]* bytes?/, "N bytes", kind)
            sub(/ \(error .*/, "", kind); sub(/ due to .*/, "", kind); gsub(/\t/, " ", kind)
            if (kind ~ /^Program hit/) sub(/ on CUDA API call/, "", kind)
            next
        }
        kind == "race" && match($0, /[A-Za-z0-9_.-]+\.cu:[0-9]+/) && / access (at|by)/ {
            place = substr($0, RSTART, RLENGTH); sub(/.*:/, "", place)
            if (index("," line ",", "," place ",") == 0) line = line (line == "" ? "" : ",") place
            next
        }
        kind != "" && line == "" && match($0, /[A-Za-z0-9_.-]+\.cu:[0-9]+/) {
            line = substr($0, RSTART, RLENGTH); sub(/.*:/, "", line)
        }
        END { flush(); for (one in seen) print one "\t" seen[one] }
    ' "$1" | sort
}

# One program under one tool. What is there already stays: a run that was stopped goes on where it was.
inspect() {
    local program=$1 tool=$2 name status=0 found one
    name=$(basename -- "$program")
    local log=$out/logs/$name.$tool.txt part=$out/parts/$name.$tool.tsv
    [[ ! -e $part ]] || return 0
    local words=(--tool "$tool" --print-limit 100)
    [[ $tool != memcheck ]] || words+=(--leak-check full)
    timeout --kill-after=5 "$seconds" "$sanitizer" "${words[@]}" "$program" >"$log" 2>&1 </dev/null || status=$?
    found=$(summarize "$log")
    if [[ $status == 124 || $status == 137 ]]; then
        found=$(printf '%s\n%s' $'TIMEOUT\t-\t1' "$found" | sed '/^$/d')
    fi
    if [[ -z $found ]]; then
        printf '%s\t%s\t\t\t0\n' "$name" "$tool"
    else
        while IFS= read -r one; do printf '%s\t%s\t%s\n' "$name" "$tool" "$one"; done <<<"$found"
    fi >"$part.new"
    mv -- "$part.new" "$part"
}

export -f inspect summarize
export out seconds sanitizer
# shellcheck disable=SC2016 # the inner bash expands it
for program in "$programs"/*; do
    [[ -x $program && -f $program ]] || continue
    for tool in memcheck racecheck initcheck synccheck; do printf '%s\0%s\0' "$program" "$tool"; done
done | xargs -0 -r -n 2 -P "$jobs" bash -c 'inspect "$1" "$2"' _
cat "$out"/parts/*.tsv >"$out/findings.tsv"
echo "sanitizer.sh: $(cut -f1 "$out/findings.tsv" | sort -u | wc -l) programs, see $out/findings.tsv"
