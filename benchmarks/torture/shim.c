/* A stand-in for a broken disk, in front of the C library: preloaded by LD_PRELOAD.

   It watches the calls by which a process reads and changes files below one directory. A rule makes
   one of them, or all from one on, fail with an error, or stops or kills the process there, so that
   every place in a store can be reached exactly. Unarmed, it changes nothing. The rule is set by
   torture_arm in the process itself, never by its environment: a compiler that it starts runs free.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What a call does; torture/shim.py has the same numbers. */
enum { READS = 1, CHANGES = 2, WRITES = 4, RENAMES = 8, OPENS = 16, LISTS = 32, LOCKS = 64, OVER = 128,
       DELETES = 256, REFUSALS = 512 };
/* What happens at the call. */
enum { COUNT = 0, FAIL = 1, KILL = 2, STOP = 3, PART = 4 };

static struct {
    char prefix[PATH_MAX];
    size_t length;
    int kinds, action, error;
    long first, last, seen; /* the calls from first to last are hit; the first call is 1 */
} rule;
static long clock_offset;

void torture_arm(const char *prefix, int kinds, int action, int error, long first, long last)
{
    snprintf(rule.prefix, sizeof rule.prefix, "%s", prefix);
    rule.length = strlen(rule.prefix);
    rule.kinds = kinds, rule.action = action, rule.error = error;
    rule.first = first, rule.last = last, rule.seen = 0;
}

long torture_seen(void) { return rule.seen; }

void torture_clock(long seconds) { clock_offset = seconds; }

static int below(const char *path)
{
    return path && !strncmp(path, rule.prefix, rule.length)
        && (path[rule.length] == '/' || !path[rule.length]);
}

static int is_below(int directory, const char *path)
{
    char link[64], found[PATH_MAX];
    ssize_t size;
    if (!rule.kinds)
        return 0;
    if (path && path[0] == '/')
        return below(path);
    if (directory == AT_FDCWD && path)
        return 0; /* the caches are named by absolute paths */
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    size = readlink(link, found, sizeof found - 1);
    if (size < 0)
        return 0;
    found[size] = 0;
    return below(found);
}

/* Whether the call must fail; a write of which only a part arrives gets the action back. */
static int hit(int kind)
{
    if (!(rule.kinds & kind))
        return 0;
    rule.seen++;
    if (rule.seen < rule.first || (rule.last && rule.seen > rule.last))
        return 0;
    switch (rule.action) {
    case KILL: kill(getpid(), SIGKILL); pause(); /* fallthrough */
    case STOP: rule.kinds = 0; kill(getpid(), SIGSTOP); return 0;
    case FAIL: errno = rule.error; return FAIL;
    case PART: errno = rule.error; return PART;
    }
    return 0;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define OPENED(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC) ? CHANGES : READS | OPENS)
#define MODE \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        REAL(name); MODE \
        if (is_below(AT_FDCWD, path) && hit(OPENED(flags) & rule.kinds)) return -1; \
        return real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
#define OPENAT(name) \
    int name(int directory, const char *path, int flags, ...) \
    { \
        REAL(name); MODE \
        if (is_below(directory, path) && hit(OPENED(flags) & rule.kinds)) return -1; \
        return real(directory, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen);
    if (is_below(AT_FDCWD, path) && hit((strpbrk(mode, "wa+") ? CHANGES : READS) & rule.kinds)) return NULL;
    return real(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    REAL(fopen64);
    if (is_below(AT_FDCWD, path) && hit((strpbrk(mode, "wa+") ? CHANGES : READS) & rule.kinds)) return NULL;
    return real(path, mode);
}

ssize_t read(int file, void *buffer, size_t size)
{
    REAL(read);
    if ((rule.kinds & READS) && is_below(file, NULL) && hit(READS)) return -1;
    return real(file, buffer, size);
}

ssize_t write(int file, const void *buffer, size_t size)
{
    REAL(write);
    if ((rule.kinds & (CHANGES | WRITES)) && is_below(file, NULL)) {
        int how = hit((CHANGES | WRITES) & rule.kinds);
        if (how == PART && size > 1) return real(file, buffer, size / 2);
        if (how) return -1;
    }
    return real(file, buffer, size);
}

static int over(const char *path)
{
    struct stat found;
    return (rule.kinds & OVER) && !lstat(path, &found);
}

#define RENAMED(to) ((CHANGES | RENAMES | (over(to) ? OVER : 0)) & rule.kinds)
int rename(const char *from, const char *to)
{
    REAL(rename);
    if (is_below(AT_FDCWD, to) && hit(RENAMED(to))) return -1;
    return real(from, to);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    REAL(renameat);
    if (is_below(to_directory, to) && hit(RENAMED(to))) return -1;
    return real(from_directory, from, to_directory, to);
}

#define ON_PATH(kind, type, name, parameters, place, path, arguments) \
    type name parameters \
    { \
        REAL(name); \
        if (is_below(place, path) && hit((kind) & rule.kinds)) return (type)-1; \
        return real arguments; \
    }
ON_PATH(CHANGES, int, mkdir, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode))
ON_PATH(CHANGES, int, mkdirat, (int at, const char *path, mode_t mode), at, path, (at, path, mode))
ON_PATH(DELETES, int, unlink, (const char *path), AT_FDCWD, path, (path))
ON_PATH(DELETES, int, unlinkat, (int at, const char *path, int flags), at, path, (at, path, flags))
ON_PATH(DELETES, int, rmdir, (const char *path), AT_FDCWD, path, (path))
ON_PATH(CHANGES, int, symlink, (const char *to, const char *path), AT_FDCWD, path, (to, path))
ON_PATH(CHANGES, int, truncate64, (const char *path, off64_t size), AT_FDCWD, path, (path, size))

int flock(int file, int how)
{
    REAL(flock);
    int watched = (rule.kinds & (LOCKS | REFUSALS)) && is_below(file, NULL);
    if (watched && hit(LOCKS)) return -1;
    int failed = real(file, how);
    if (failed && watched && errno == EWOULDBLOCK) {
        hit(REFUSALS);
        errno = EWOULDBLOCK;
    }
    return failed;
}

DIR *opendir(const char *path)
{
    REAL(opendir);
    if (is_below(AT_FDCWD, path) && hit((LISTS | READS) & rule.kinds)) return NULL;
    return real(path);
}

int clock_gettime(clockid_t which, struct timespec *now)
{
    REAL(clock_gettime);
    int failed = real(which, now);
    if (!failed && which == CLOCK_REALTIME) now->tv_sec += clock_offset;
    return failed;
}

time_t time(time_t *place)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}
