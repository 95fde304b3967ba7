// Lines that match regular expressions, by a matcher that calls itself.
#include "native.h"

static inline int same(char c, const char *text, const char *end) { return text < end && (c == '.' || c == *text); }

static const char *match_here(const char *e, const char *text, const char *end) {
    for (;; e++, text++) {
        char c = *e;
        if (c == 0)
            return text;
        while (e[1] == '?') {
            const char *stop = same(c, text, end) ? match_here(e + 2, text + 1, end) : 0;
            if (stop)
                return stop;
            e += 2;
            if ((c = *e) == 0)
                return text;
        }
        if (e[1] == '*' || e[1] == '+') {
            const char *t = text;
            if (c == '.')
                t = end;
            else
                while (t < end && *t == c)
                    t++;
            for (text += e[1] == '+'; t >= text; t--) {
                const char *stop = match_here(e + 2, t, end);
                if (stop)
                    return stop;
            }
            return 0;
        }
        if (c == '$' && e[1] == 0)
            return text == end ? text : 0;
        if (!same(c, text, end))
            return 0;
    }
}

void run(const char *restrict text, const int *restrict lines, const char *restrict expressions,
         short (*restrict spans)[2], uint *restrict matches, int count, int tried, int room) {
    for (int e = 0; e < tried; e++) {
        const char *expression = expressions + e * room;
        uint found = 0;
        for (int line = 0; line < count; line++) {
            const char *start = text + lines[line], *end = text + lines[line + 1] - 1, *t = start, *stop = 0;
            if (*expression == '^')
                stop = match_here(expression + 1, t, end);
            else
                for (; t <= end && !(stop = match_here(expression, t, end)); t++)
                    ;
            short *span = spans[(long)e * count + line];
            span[0] = stop ? t - start : -1;
            span[1] = stop ? stop - start : -1;
            found += stop != 0;
        }
        matches[e] += found;
    }
}
