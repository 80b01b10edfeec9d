#!/usr/bin/env bash
# Measures what the task sheets claim of real devices. On a machine with nvcc: measure.sh build FOLDER [sm_90]; on one
# with a GPU: measure.sh run FOLDER. docs/hardware.md has what it printed.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$here/../..
labs=(libraries latency instructions chains overlap atomics vecadd matmul transpose reduction scan histogram convolution occupancy step)
case $1 in
    build)
        mkdir -p "$2"
        for lab in "${labs[@]}"; do
            libraries=()
            [[ $lab == libraries ]] && libraries=(-lcublas)
            "${NVCC:-nvcc}" -std=c++17 -O3 --extended-lambda -arch="${3:-sm_90}" -cudart static -I "$root/labs/$lab" -I "$root/labs/common" \
                "$here/$lab.cu" -o "$2/$lab" "${libraries[@]}"
        done ;;
    run)
        nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader
        for lab in "${labs[@]}"; do
            printf '\n## %s\n\n| what | size | time | rate |\n|---|---|---:|---:|\n' "$lab"
            "$2/$lab"
        done ;;
esac
