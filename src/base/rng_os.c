/* The operating system's randomness, and nothing else. */
#include <stddef.h>

#if defined(_WIN32)
#include <windows.h>
#include <bcrypt.h>
int rng_system_bytes(void *out, size_t n)
{
    return BCryptGenRandom(NULL, (unsigned char *)out, (unsigned long)n, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0;
}
#elif defined(__linux__)
#include <errno.h>
#include <sys/random.h>
int rng_system_bytes(void *out, size_t n)
{
    unsigned char *p = out;
    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0) { /* a signal may cut long requests short */
            if (errno == EINTR)
                continue;
            return 1;
        }
        p += got;
        n -= (size_t)got;
    }
    return 0;
}
#else
#include <stdlib.h>
int rng_system_bytes(void *out, size_t n)
{
    arc4random_buf(out, n);
    return 0;
}
#endif
