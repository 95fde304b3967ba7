// Outliers of many channels by Hampel's rule: a window that slides, kept both as a ring in order of time and sorted;
// what is farther from the median than so many median deviations gets the median. A thread for each channel.
#define MAX_WINDOW 31

struct Window {
    short ring[MAX_WINDOW], sorted[MAX_WINDOW];
    int size, used, head;

    __device__ explicit Window(int n) : size(n), used(0), head(0) {}

    __device__ void push(short value) {
        int at;
        if (used == size) {
            // the oldest leaves
            short old = ring[head];
            int low = 0, high = used - 1;
            while (low < high) {
                int middle = (low + high) >> 1;
                if (sorted[middle] < old)
                    low = middle + 1;
                else
                    high = middle;
            }
            at = low;
            while (at + 1 < used && sorted[at + 1] < value) {
                sorted[at] = sorted[at + 1];
                at++;
            }
        } else {
            at = used++;
        }
        while (at > 0 && sorted[at - 1] > value) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = value;
        ring[head] = value;
        head = head + 1 == size ? 0 : head + 1;
    }

    __device__ short median() const { return sorted[used / 2]; }

    // Of the distances from the median: the k-th smallest, from both sides of it inwards out.
    __device__ int deviation() const {
        int m = used / 2, left = m, right = m + 1, d = 0;
        for (int k = 0; k <= used / 2; k++) {
            int a = left >= 0 ? sorted[m] - sorted[left] : 0x10000;
            int b = right < used ? sorted[right] - sorted[m] : 0x10000;
            if (a <= b) {
                d = a;
                left--;
            } else {
                d = b;
                right++;
            }
        }
        return d;
    }
};

extern "C" __global__ void rollmed(const short *__restrict__ samples, short *__restrict__ cleaned, int *outliers,
                                   int channels, int length, int window, int times_8) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels)
        return;
    Window w(window);
    int bad = 0;
    for (int t = 0; t < length; t++) {
        short v = samples[(size_t)t * channels + c];
        w.push(v);
        short m = w.median();
        if (abs(v - m) * 8 > times_8 * max(w.deviation(), 1)) {
            v = m;
            bad++;
        }
        cleaned[(size_t)t * channels + c] = v;
    }
    outliers[c] = bad;
}
