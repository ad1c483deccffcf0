// Transfers lock the account, then the ledger, and write under both; readers lock the ledger only, for a moment.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct ledger {
    long padding[5];
    pthread_mutex_t lock;
};
static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ledger *ledger;
volatile int sink;

__attribute__((noinline)) void append_entry(void) {
    usleep(2000);
    sink++;
}

__attribute__((noinline)) void post_entry(void) {
    pthread_mutex_lock(&ledger->lock);
    append_entry();
    pthread_mutex_unlock(&ledger->lock);
    sink++;
}

__attribute__((noinline)) void transfer(void) {
    pthread_mutex_lock(&account_lock);
    post_entry();
    pthread_mutex_unlock(&account_lock);
    sink++;
}

static void *teller(void *argument) {
    (void)argument;
    for (;;) transfer();
}

static void *clerk(void *argument) {
    (void)argument;
    for (;;) {
        post_entry();
        usleep(100);
    }
}

int main(void) {
    pthread_t thread;
    ledger = calloc(1, sizeof *ledger);
    pthread_mutex_init(&ledger->lock, 0);
    for (int i = 0; i < 8; i++) pthread_create(&thread, 0, teller, 0);
    for (int i = 0; i < 3; i++) pthread_create(&thread, 0, clerk, 0);
    puts("ready");
    fflush(stdout);
    for (;;) pause();
}
