// Regular expressions over the lines of a log: an automaton of up to 64 states as bits of a word, a thread a line.
// Which patterns a line has, and where the first match ends.
#define PATTERNS 4
typedef unsigned long long States;

struct Automaton {
    States first; // states that a match can begin in
    States last[PATTERNS];
    States follow[64];
    States has[256]; // states that a character can bring
};

extern "C" __global__ void __launch_bounds__(128)
    nfa_lines(const char *__restrict__ text, const int *__restrict__ line_start,
              const Automaton *__restrict__ automaton, unsigned char *__restrict__ found, int *__restrict__ end,
              int *count, int lines) {
    __shared__ Automaton a;
    __shared__ int sums[PATTERNS];
    const States *words = reinterpret_cast<const States *>(automaton);
    for (int i = threadIdx.x; i < (int)(sizeof(Automaton) / sizeof(States)); i += blockDim.x)
        reinterpret_cast<States *>(&a)[i] = words[i];
    if (threadIdx.x < PATTERNS)
        sums[threadIdx.x] = 0;
    __syncthreads();

    for (int line = blockIdx.x * blockDim.x + threadIdx.x; line < lines; line += gridDim.x * blockDim.x) {
        States last = 0;
        for (int p = 0; p < PATTERNS; p++)
            last |= a.last[p];
        States active = 0, ended = 0;
        int first_end = -1;
        int start = line_start[line], stop = line_start[line + 1];
        for (int i = start; i < stop; i++) {
            unsigned char c = text[i];
            if (c == '\n')
                break;
            States next = a.first;
            while (active) {
                int s = __ffsll(active) - 1;
                active &= active - 1;
                next |= a.follow[s];
            }
            active = next & a.has[c];
            if (active & last) {
                ended |= active & last;
                if (first_end < 0)
                    first_end = i - start + 1;
            }
        }
        unsigned char patterns = 0;
        for (int p = 0; p < PATTERNS; p++)
            if (ended & a.last[p]) {
                patterns |= 1 << p;
                atomicAdd(&sums[p], 1);
            }
        found[line] = patterns;
        end[line] = first_end;
    }
    __syncthreads();
    if (threadIdx.x < PATTERNS && sums[threadIdx.x] > 0)
        atomicAdd(&count[threadIdx.x], sums[threadIdx.x]);
}
