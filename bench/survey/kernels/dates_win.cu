// Events with times in microseconds (some before 1970): year, month, day, weekday and minute packed into a word, and
// counts, sums, least and greatest by windows of a length that is known at run time; the windows' starts as text.
struct __align__(16) Event {
    long long time;
    long long value;
};

union Stamp {
    struct {
        unsigned int minute : 6, hour : 5, day : 5, month : 4, weekday : 3;
        int year : 9;  // since 2000
    } part;
    unsigned int word;
};

struct Window {
    unsigned long long count;
    long long sum, least, greatest;
    unsigned long long late, spare;
};

__device__ __forceinline__ long long floor_div(long long a, long long b) {
    long long q = a / b;
    return q - (a % b < 0);
}

struct Date {
    int year, month, day;
};

__device__ Date civil(long long days) {
    days += 719468;
    long long era = floor_div(days, 146097);
    unsigned int of_era = (unsigned int)(days - era * 146097);
    unsigned int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned int of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned int m = (5 * of_year + 2) / 153;
    Date d;
    d.day = of_year - (153 * m + 2) / 5 + 1;
    d.month = m < 10 ? m + 3 : m - 9;
    d.year = (int)(year + era * 400) + (d.month <= 2);
    return d;
}

__device__ Stamp stamp_of(long long time) {
    const long long day_length = 86400ll * 1000000;
    long long days = floor_div(time, day_length);
    int minutes = (int)((time - days * day_length) / 60000000);
    Date d = civil(days);
    Stamp s;
    s.part.year = d.year - 2000;
    s.part.month = d.month;
    s.part.day = d.day;
    s.part.weekday = (int)(days + 4 - 7 * floor_div(days + 4, 7));
    s.part.hour = minutes / 60;
    s.part.minute = minutes % 60;
    return s;
}

extern "C" __global__ void win_clear(Window *windows, int count) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w < count)
        windows[w] = {0, 0, 0x7fffffffffffffffll, -0x7fffffffffffffffll - 1, 0, 0};
}

extern "C" __global__ void win_events(const longlong2 *__restrict__ events, unsigned int *__restrict__ stamps,
                                      Window *windows, int n, int count, long long origin, long long width) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        longlong2 loaded = events[i];
        Event e = {loaded.x, loaded.y};
        stamps[i] = stamp_of(e.time).word;
        long long w = floor_div(e.time - origin, width);
        if (w < 0 || w >= count) {
            atomicAdd(&windows[w < 0 ? 0 : count - 1].late, 1ull);
            continue;
        }
        Window *to = windows + w;
        atomicAdd(&to->count, 1ull);
        atomicAdd((unsigned long long *)&to->sum, (unsigned long long)e.value);
        atomicMin(&to->least, e.value);
        atomicMax(&to->greatest, e.value);
    }
}

__device__ __forceinline__ unsigned int two_digits(int v) {
    return (unsigned int)('0' + v / 10) | (unsigned int)('0' + v % 10) << 8;
}

extern "C" __global__ void win_report(const Window *windows, uint4 *text, longlong2 *means, int count,
                                      long long origin, long long width) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= count)
        return;
    Window window = windows[w];
    Stamp s = stamp_of(origin + w * width);
    int year = s.part.year + 2000;
    uint4 t;  // YYYY-MM-DDThh:mm
    t.x = two_digits(year / 100) | two_digits(year % 100) << 16;
    t.y = '-' | two_digits(s.part.month) << 8 | (unsigned int)'-' << 24;
    t.z = two_digits(s.part.day) | 'T' << 16 | (unsigned int)('0' + s.part.hour / 10) << 24;
    t.w = (unsigned int)('0' + s.part.hour % 10) | ':' << 8 | two_digits(s.part.minute) << 16;
    text[w] = t;
    long long n = (long long)window.count;
    means[w] = n ? make_longlong2(window.sum / n, window.greatest - window.least) : make_longlong2(0, 0);
}
