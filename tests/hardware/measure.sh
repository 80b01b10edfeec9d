#!/usr/bin/env bash
# Measures what the task sheets claim of real devices. On a machine with nvcc: measure.sh build FOLDER [sm_90]; on one
# with a GPU: measure.sh run FOLDER. docs/hardware.md has what it printed. With SET=families, second, third, fourth,
# fifth, sixth, seventh, eighth or ninth in the environment, both take the held-out kernels of that set: tests/model/SET.md.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$here/../..
labs=(libraries latency instructions kept chains overlap requests banks constants calls branches stores phases atomics vecadd matmul transpose reduction scan histogram convolution occupancy step)
programs=("${labs[@]/#/$here/}")
if [[ -n ${SET:-} ]]; then
    programs=("$root/tests/model/${SET}"_*.cu)
    programs=("${programs[@]%.cu}")
fi
case $1 in
    build)
        mkdir -p "$2"
        for program in "${programs[@]}"; do
            name=${program##*/}
            libraries=()
            [[ $name == libraries ]] && libraries=(-lcublas)
            "${NVCC:-nvcc}" -std=c++17 -O3 --extended-lambda -arch="${3:-sm_90}" -cudart static -I "$root/labs/$name" -I "$root/labs/common" \
                "$program.cu" -o "$2/$name" "${libraries[@]}"
        done ;;
    run)
        nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader
        for program in "${programs[@]}"; do
            name=${program##*/}
            printf '\n## %s\n\n| what | size | time | rate |\n|---|---|---:|---:|\n' "${name#"${SET:-}_"}"
            "$2/$name"
        done ;;
esac
