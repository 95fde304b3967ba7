// The mean of the neighbours within a radius, of those that there are (a student's blur).
extern "C" __global__ void box_count(const unsigned char *in, unsigned char *out, int w, int h, int size) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < w && row < h) {
        int sum = 0, pixels = 0;
        for (int dr = -size; dr < size + 1; dr++)
            for (int dc = -size; dc < size + 1; dc++) {
                int r = row + dr, c = col + dc;
                if (r > -1 && r < h && c > -1 && c < w) {
                    sum += in[r * w + c];
                    pixels++;
                }
            }
        out[row * w + col] = (unsigned char)(sum / pixels);
    }
}
