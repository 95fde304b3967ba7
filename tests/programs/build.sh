#!/usr/bin/env bash
# Compiles every program here to PTX with nvcc 13. The results are committed: tests need no CUDA.
set -euo pipefail
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}

compile() { # SOURCE RESULT [FLAGS...]
    echo "$2.ptx"
    "$nvcc" -ptx "${@:3}" -o "$2.ptx" "$1.cu"
}

for source in *.cu; do
    name=${source%.cu}
    case $name in
    pipelines | tensor) compile "$name" "$name" -arch=compute_80 ;;
    mandelbrot) compile "$name" "$name" -arch=compute_75 -fmad=false ;;
    *) compile "$name" "$name" -arch=compute_75 ;;
    esac
done
for name in functions switch_vm polymorphism calculator members warps_waiting grid_groups trying; do
    compile "$name" "$name.debug" -arch=compute_75 -G
done
for name in matmul hash pipelines; do
    compile "$name" "$name.sm_90" -arch=compute_90
done
