// Eight workers pause under a static mutex; four more wait for work that never comes.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
volatile int sink;

__attribute__((noinline)) void refresh_cache(void) {
    usleep(3000);
    sink++;
}

__attribute__((noinline)) void serve_page(void) {
    pthread_mutex_lock(&cache_lock);
    refresh_cache();
    pthread_mutex_unlock(&cache_lock);
    sink++;
}

static void *worker(void *argument) {
    (void)argument;
    for (;;) serve_page();
}

__attribute__((noinline)) void take_job(void) {
    pthread_mutex_lock(&queue_lock);
    while (sink >= 0) pthread_cond_wait(&work, &queue_lock);
    pthread_mutex_unlock(&queue_lock);
}

static void *idle(void *argument) {
    (void)argument;
    for (;;) take_job();
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 8; i++) pthread_create(&thread, 0, worker, 0);
    for (int i = 0; i < 4; i++) pthread_create(&thread, 0, idle, 0);
    puts("ready");
    fflush(stdout);
    for (;;) pause();
}
