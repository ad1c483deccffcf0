// A hundred threads that pause in turns, five calls deep.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

volatile int sink;
#define STEP(name, next) \
    __attribute__((noinline)) static void name(int depth) { \
        next(depth + 1); \
        sink++; \
    }
__attribute__((noinline)) static void rest(int depth) {
    usleep((unsigned)(20000 + depth));
    sink++;
}
STEP(step_d, rest) STEP(step_c, step_d) STEP(step_b, step_c) STEP(step_a, step_b)

static void *turn(void *argument) {
    (void)argument;
    for (;;) step_a(0);
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 100; i++) pthread_create(&thread, 0, turn, 0);
    puts("ready");
    fflush(stdout);
    for (;;) pause();
}
