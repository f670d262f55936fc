#include "exact.h"

#include <math.h>
#include <string.h>

enum { MOST_PENDING = 1 << 30 };

void exact_clear(struct exact *e)
{
    for (size_t i = 0; i < e->n * EXACT_DIGITS; i++)
        e->digit[i] = 0;
    e->pending = 0;
    e->bad = 0;
}

void exact_add(struct exact *e, const double *row)
{
    const uint64_t low = 0xffffffff, fraction = ((uint64_t)1 << 52) - 1;
    int64_t *digit = e->digit;
    if (++e->pending == MOST_PENDING)
        exact_carry(e);
    for (size_t j = 0; j < e->n; j++, digit += EXACT_DIGITS) {
        uint64_t bits, m;
        memcpy(&bits, row + j, sizeof bits);
        unsigned power = (unsigned)(bits >> 52) & 2047;
        if (power == 2047) {
            e->bad = 1;
            continue;
        }
        m = (bits & fraction) | (power ? fraction + 1 : 0);
        power -= power > 0; /* row[j] is m 2^(power - 1074) */
        unsigned shift = power & 31;
        int64_t *d = digit + (power >> 5);
        int64_t a = (int64_t)((m << shift) & low), b = (int64_t)((m >> (32 - shift)) & low);
        int64_t c = (int64_t)((m >> 32) >> (32 - shift));
        if (bits >> 63) {
            d[0] -= a;
            d[1] -= b;
            d[2] -= c;
        } else {
            d[0] += a;
            d[1] += b;
            d[2] += c;
        }
    }
}

void exact_add_digit(struct exact *e, size_t j, size_t place, double digit)
{
    if (place < EXACT_DIGITS && fabs(digit) < 0x1p53)
        e->digit[j * EXACT_DIGITS + place] += (int64_t)digit;
    else
        e->bad = 1;
}

void exact_carry(struct exact *e)
{
    const int64_t base = (int64_t)1 << 32, half = (int64_t)1 << 31;
    for (size_t j = 0; j < e->n; j++) {
        int64_t *d = e->digit + j * EXACT_DIGITS, carry = 0;
        for (size_t i = 0; i < EXACT_DIGITS; i++) {
            int64_t v = d[i] + carry, rest = v % base;
            rest += rest < -half ? base : rest >= half ? -base : 0;
            d[i] = rest;
            carry = (v - rest) / base;
        }
        e->bad = e->bad || carry != 0;
    }
    e->pending = 0;
}

void exact_merge(struct exact *e, struct exact *from)
{
    exact_carry(e);
    exact_carry(from);
    for (size_t i = 0; i < e->n * EXACT_DIGITS; i++)
        e->digit[i] += from->digit[i];
    e->bad = e->bad || from->bad;
    exact_carry(e);
}

void exact_range(const struct exact *e, size_t *low, size_t *high)
{
    *low = EXACT_DIGITS;
    *high = 0;
    for (size_t j = 0; j < e->n; j++)
        for (size_t i = 0; i < EXACT_DIGITS; i++)
            if (e->digit[j * EXACT_DIGITS + i] != 0) {
                *low = i < *low ? i : *low;
                *high = i + 1 > *high ? i + 1 : *high;
            }
    if (*high == 0)
        *low = 0;
}

double exact_value(const struct exact *e, size_t j)
{
    const int64_t *d = e->digit + j * EXACT_DIGITS;
    size_t top = EXACT_DIGITS;
    double v = 0;
    while (top > 0 && d[top - 1] == 0)
        top--;
    if (e->bad)
        return NAN;
    for (size_t i = top > 5 ? top - 5 : 0; i < top; i++) /* five digits hold more than doubles do */
        v = v * 0x1p-32 + (double)d[i];
    return top ? ldexp(v, 32 * (int)(top - 1) - 1074) : 0;
}
