// Commas and ends of lines in a part of a table as text, after an even and after an odd number of quotes.
#define CHUNK 64

struct Counts {
    int commas[2], lines[2], quotes;
};

extern "C" __global__ void csv_fields(const char *text, size_t n, Counts *counts) {
    size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t first = t * CHUNK;
    if (first >= n)
        return;
    size_t end = first + CHUNK < n ? first + CHUNK : n;
    Counts c = {{0, 0}, {0, 0}, 0};
    int odd = 0;
    for (size_t i = first; i < end; i++) {
        char letter = text[i];
        if (letter == '"') {
            odd ^= 1;
            c.quotes++;
        } else if (letter == ',') {
            c.commas[odd]++;
        } else if (letter == '\n') {
            c.lines[odd]++;
        }
    }
    counts[t] = c;
}
