#!/bin/sh
# Compiles the CUDA sources here to ptx/NAME.VARIANT.ptx. Needs nvcc 13; the results are committed.
set -e
cd "$(dirname "$0")/cuda"
mkdir -p ../ptx
compile() { # SOURCE VARIANT FLAGS...
    source=$1 variant=$2
    shift 2
    nvcc -std=c++17 -ptx -diag-suppress 177,550,20054 "$@" -o "../ptx/$source.$variant.ptx" "$source.cu"
}
for source in math_f32 math_f64 rounding fast bits atomics warps language memory; do
    compile $source sm_75 -arch=compute_75
done
for source in halves bits atomics warps memory; do
    compile $source sm_90 -arch=compute_90
done
for target in 75 90; do
    compile library sm_$target -arch=compute_$target --expt-relaxed-constexpr --extended-lambda
done
compile collectives sm_75 -arch=compute_75
compile collectives plain -arch=compute_80 -Xcicc -O0
compile algorithms sm_75 -arch=compute_75 -fmad=false
compile halves sm_80 -arch=compute_80
compile warps sm_86 -arch=compute_86
compile halves sm_100 -arch=compute_100
compile warps sm_100 -arch=compute_100
compile language sm_89 -arch=compute_89 -lineinfo
compile bits sm_100 -arch=compute_100
compile math_f32 fast -arch=compute_80 --use_fast_math
compile language debug -arch=compute_75 -G
compile rounding debug -arch=compute_75 -G
compile atomics plain -arch=compute_80 -Xcicc -O0
compile language plain -arch=compute_80 -Xcicc -O0
for target in "sm_35 +ptx40 0" "sm_75 +ptx64 2" "sm_90 +ptx80 3"; do
    python ../llvm/compile.py $target > "../ptx/backend.${target%% *}.ptx"
done
