#!/bin/sh
# The host compiler as nvcc calls it, with a head start: head_start.py says what lies beside this file, and why.
# Whatever is not as it was when that was made is left to the compiler alone.
here=${0%/*}
IFS= read -r compiler <"$here/compiler"

# What is asked for, but for the names of nvcc's own files.
asked= source= output= previous=
for word; do
    case $previous,$word in
        -o,*) output=$word ;;
        *,-o) ;;
        *,*.cudafe1.cpp) source=$word ;;
        *) asked="$asked $word" ;;
    esac
    previous=$word
done

without_runtime() { # all arguments but -include cuda_runtime.h
    left=$#
    while [ "$left" -gt 0 ]; do
        word=$1
        shift
        left=$((left - 1))
        case $word in
            -include) shift && left=$((left - 1)) ;;
            *) set -- "$@" "$word" ;;
        esac
    done
    "$compiler" "$@"
}

is_known() { # folder: was the compiler called so?
    IFS= read -r known <"$1/asked" && [ "$known" = "$asked" ]
}

case $asked in
    *" -E "*" -include cuda_runtime.h "*) step=preprocess ;;
    *) step=${source:+host} ;;
esac

if [ -n "$step" ] && [ -d "$WARPGRADE_RECORD/$step" ]; then
    folder=$(mktemp -d "$WARPGRADE_RECORD/$step/XXXXXX") && printf '%s\n' "$asked" >"$folder/asked"
    if [ "$step" = host ]; then
        printf '%s\n' "$@" >"$folder/words"
        cp "$source" "$folder/whole.cpp"
        exit 1 # no more of nvcc is needed
    fi
    "$compiler" "$@" -dM && cp "$output" "$folder/macros" && "$compiler" "$@" -dD && cp "$output" "$folder/origins" &&
        "$compiler" "$@" && exec cp "$output" "$folder/text.ii"
    exit 1
fi

if [ "$step" = preprocess ]; then
    unit=${asked##* }
    for folder in "$here"/preprocess.*; do
        is_known "$folder" || continue
        said=$(without_runtime "$@" -imacros "$folder/system.h" -imacros "$folder/own.h" 2>&1) && [ -z "$said" ] &&
            sed "1,/^# 1 \"$unit\"\$/d" "$output" >"$output.rest" && cat "$folder/text.ii" "$output.rest" >"$output" &&
            exit 0
    done
elif [ "$step" = host ]; then
    for folder in "$here"/host.*; do # the longest first
        is_known "$folder" || continue
        IFS= read -r bytes <"$folder/bytes"
        cmp -s -n "$bytes" "$folder/prefix.hpp" "$source" || continue
        mv "$source" "$source.whole"
        { cat "$folder/pragmas" && tail -c "+$((bytes + 1))" "$source.whole"; } >"$source"
        said=$("$compiler" -include "$folder/prefix.hpp" "$@" 2>&1) && [ -z "$said" ] && exit 0
        mv "$source.whole" "$source" # it has something to say: it says it of the whole
        break
    done
fi
exec "$compiler" "$@"
