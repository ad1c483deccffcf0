// Workers that wait for jobs by a condition, by a semaphore and by a pipe; one thread computes in many functions.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static sem_t slots;
static int ends[2];
volatile unsigned sink;

#define STEP(name) \
    __attribute__((noinline)) void name(void) { \
        for (unsigned i = 0; i < 20000; i++) sink = sink * 31 + i; \
    }
STEP(step_a) STEP(step_b) STEP(step_c) STEP(step_d) STEP(step_e) STEP(step_f) STEP(step_g) STEP(step_h)

static void *by_condition(void *argument) {
    (void)argument;
    pthread_mutex_lock(&queue_lock);
    for (;;) pthread_cond_wait(&work, &queue_lock);
}

static void *by_semaphore(void *argument) {
    (void)argument;
    for (;;) sem_wait(&slots);
}

static void *by_pipe(void *argument) {
    char byte;
    (void)argument;
    for (;;) sink += read(ends[0], &byte, 1);
}

int main(void) {
    pthread_t thread;
    sem_init(&slots, 0, 0);
    if (pipe(ends)) return 1;
    for (int i = 0; i < 6; i++) {
        pthread_create(&thread, 0, by_condition, 0);
        pthread_create(&thread, 0, by_semaphore, 0);
        pthread_create(&thread, 0, by_pipe, 0);
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        step_a(); step_b(); step_c(); step_d(); step_e(); step_f(); step_g(); step_h();
        // The workers are woken up for nothing, again and again.
        pthread_cond_broadcast(&work);
        sem_post(&slots);
    }
}
