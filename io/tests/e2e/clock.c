/* A wall clock that is a day ahead as long as the file AHEAD is there. */

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    int before = errno;
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (failed)
        return failed;
    if (clock == CLOCK_REALTIME && access(AHEAD, F_OK) == 0)
        now->tv_sec += 24 * 60 * 60;
    errno = before;
    return 0;
}
