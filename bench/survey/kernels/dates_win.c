#include "native.h"

typedef long long ll;

typedef struct {
    ll count, sum, least, greatest, late, spare;
} Window;

static inline ll floor_div(ll a, ll b) {
    ll q = a / b;
    return q - (a - q * b < 0);
}

static inline uint stamp_of(ll time) {
    const ll day_length = 86400ll * 1000000;
    ll days = floor_div(time, day_length), shifted = days + 719468, era = floor_div(shifted, 146097);
    int minutes = (int)((time - days * day_length) / 60000000), weekday = (int)(days + 4 - 7 * floor_div(days + 4, 7));
    uint of_era = (uint)(shifted - era * 146097);
    uint year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint of_year = of_era - (365 * year + year / 4 - year / 100), m = (5 * of_year + 2) / 153;
    uint day = of_year - (153 * m + 2) / 5 + 1, month = m < 10 ? m + 3 : m - 9;
    int since = (int)(year + era * 400) + (month <= 2) - 2000;
    return (uint)(minutes % 60) | (uint)(minutes / 60) << 6 | day << 11 | month << 16 | (uint)weekday << 20 |
           (uint)since << 23;
}

static inline void digits(char *to, int v) {
    to[0] = '0' + v / 10;
    to[1] = '0' + v % 10;
}

void run(const ll *restrict events, uint *restrict stamps, Window *restrict windows, char *restrict text,
         ll *restrict means, int n, int count, ll origin, ll width) {
    for (int w = 0; w < count; w++)
        windows[w] = (Window){0, 0, INT64_MAX, INT64_MIN, 0, 0};
    for (int i = 0; i < n; i++)
        stamps[i] = stamp_of(events[2 * i]);
    for (int i = 0; i < n; i++) {
        ll time = events[2 * i], value = events[2 * i + 1], w = floor_div(time - origin, width);
        if (w < 0 || w >= count) {
            windows[w < 0 ? 0 : count - 1].late++;
            continue;
        }
        Window *to = windows + w;
        to->count++;
        to->sum += value;
        to->least = MIN(to->least, value);
        to->greatest = MAX(to->greatest, value);
    }
    for (int w = 0; w < count; w++) {
        uint s = stamp_of(origin + w * width);
        int year = ((int)s >> 23) + 2000;
        char *t = text + 16 * w;
        memcpy(t, "yyyy-mm-ddThh:mm", 16);
        digits(t, year / 100);
        digits(t + 2, year % 100);
        digits(t + 5, s >> 16 & 15);
        digits(t + 8, s >> 11 & 31);
        digits(t + 11, s >> 6 & 31);
        digits(t + 14, s & 63);
        const Window *from = windows + w;
        means[2 * w] = from->count ? from->sum / from->count : 0;
        means[2 * w + 1] = from->count ? from->greatest - from->least : 0;
    }
}
