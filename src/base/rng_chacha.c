#include "rng_chacha.h"

typedef uint32_t lanes __attribute__((vector_size(4 * CHACHA_LANES), aligned(4), may_alias));

#if defined(__x86_64__)
#include <immintrin.h>

#define BYTES(...) ((lanes)_mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__))
#define SHUFFLE(x, bytes) ((lanes)_mm256_shuffle_epi8((__m256i)(x), (__m256i)(bytes)))
#define LEFT16(x) SHUFFLE(x, BYTES(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13))
#define LEFT8(x) SHUFFLE(x, BYTES(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14))
#define KERNEL(name) name##_avx2
#define TARGET __attribute__((target("avx2")))
#include "rng_chacha_kernels.h"
#endif

#define LEFT16(x) LEFT(x, 16)
#define LEFT8(x) LEFT(x, 8)
#define KERNEL(name) name##_plain
#define TARGET
#include "rng_chacha_kernels.h"

chacha_blocks *chacha_of(enum chacha_set set)
{
    if (set == CHACHA_PLAIN)
        return blocks_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return blocks_avx2;
#endif
    return NULL;
}

chacha_blocks *chacha(void)
{
    chacha_blocks *fast = chacha_of(CHACHA_AVX2);
    return fast ? fast : blocks_plain;
}
