// The clock of programs that preload this library, in seconds ahead of the true one. Timeouts keep the true clock: they use others.
// It calls the kernel itself. A library that looks up the functions it replaces would need memory, and so hang in rustc's allocator.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
  long failed = syscall(SYS_clock_gettime, clock, now);
  if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += AHEAD;
  return (int)failed;
}

int gettimeofday(struct timeval *now, void *zone) {
  long failed = syscall(SYS_gettimeofday, now, zone);
  if (failed == 0) now->tv_sec += AHEAD;
  return (int)failed;
}

time_t time(time_t *copy) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (copy) *copy = now.tv_sec;
  return now.tv_sec;
}
