// FNV-1a hashes of records of one length.
extern "C" __global__ void fnv_lines(const unsigned char *records, unsigned *hashes, int count, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned h = 2166136261u;
    for (int k = 0; k < length; k++)
        h = (h ^ records[i * length + k]) * 16777619u;
    hashes[i] = h;
}
