/* Body of the kernel of rng_chacha.h. rng_chacha.c includes this once for every instruction set, with
 *   KERNEL(name)    the function's name there          TARGET     its attribute
 *   LEFT16(x), LEFT8(x)                                x rotated left by so many bits
 * Each lane is a block, so no step of a round crosses lanes. */

#define LEFT(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define QUARTER(a, b, c, d)                                                                                            \
    do {                                                                                                               \
        x[a] += x[b];                                                                                                  \
        x[d] ^= x[a];                                                                                                  \
        x[d] = LEFT16(x[d]);                                                                                           \
        x[c] += x[d];                                                                                                  \
        x[b] ^= x[c];                                                                                                  \
        x[b] = LEFT(x[b], 12);                                                                                         \
        x[a] += x[b];                                                                                                  \
        x[d] ^= x[a];                                                                                                  \
        x[d] = LEFT8(x[d]);                                                                                            \
        x[c] += x[d];                                                                                                  \
        x[b] ^= x[c];                                                                                                  \
        x[b] = LEFT(x[b], 7);                                                                                          \
    } while (0)

TARGET static void KERNEL(blocks)(uint32_t *out, const uint32_t *key, const uint32_t *nonce, uint32_t counter)
{
    /* "expand 32-byte k" */
    const uint32_t first[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1],   key[2],   key[3],
                                key[4],     key[5],     key[6],     key[7],     0,      nonce[0], nonce[1], nonce[2]};
    const lanes count = counter + (lanes){0, 1, 2, 3, 4, 5, 6, 7};
    lanes x[16];
    for (int i = 0; i < 16; i++)
        x[i] = (lanes){0} + first[i];
    x[12] = count;
    for (int round = 0; round < 10; round++) {
        QUARTER(0, 4, 8, 12);
        QUARTER(1, 5, 9, 13);
        QUARTER(2, 6, 10, 14);
        QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15);
        QUARTER(1, 6, 11, 12);
        QUARTER(2, 7, 8, 13);
        QUARTER(3, 4, 9, 14);
    }
    x[12] += count;
    for (int i = 0; i < 16; i++)
        *(lanes *)(out + i * CHACHA_LANES) = x[i] + first[i];
}

#undef QUARTER
#undef LEFT
#undef LEFT16
#undef LEFT8
#undef KERNEL
#undef TARGET
