// A server on 127.0.0.1 with a thread for each connection; each request prints a label on one of three printers. Workers of another
// kind wait for jobs that never come. A child of the program loads it.
#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PAUSE
#define PAUSE 2000
#endif
#define CLIENTS 24

static sem_t printers, jobs;
static struct sockaddr_in address;
static int listener;

static volatile int printed;

__attribute__((noinline)) static void print_label(void) {
    usleep(4000);
    printed++;
}

__attribute__((noinline)) static int label(char *content) {
    sem_wait(&printers);
    print_label();
    sem_post(&printers);
    return snprintf(content, 10, "printed\n");
}

static void *connection(void *argument) {
    int socket = (int)(long)argument;
    char bytes[16];
    while (read(socket, bytes, sizeof bytes) > 0) {
        int length = label(bytes);
        if (write(socket, bytes, (size_t)length) < 0) break;
    }
    close(socket);
    return 0;
}

__attribute__((noinline)) static void run_job(void) {
    sem_wait(&jobs);
    usleep(1000);
    printed++;
}

static void *worker(void *argument) {
    (void)argument;
    for (;;) run_job();
}

static void *client(void *argument) {
    char bytes[16];
    (void)argument;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, (struct sockaddr *)&address, sizeof address)) return 0;
    for (;;) {
        if (write(client, "print", 5) < 0) break;
        if (read(client, bytes, sizeof bytes) <= 0) break;
        // Between two requests the server's thread waits for this client.
        if (PAUSE) usleep(PAUSE);
    }
    return 0;
}

static void *server(void *argument) {
    pthread_t thread;
    (void)argument;
    for (;;) {
        long socket = accept(listener, 0, 0);
        if (socket >= 0) pthread_create(&thread, 0, connection, (void *)socket);
    }
}

int main(int count, char **words) {
    pthread_t thread;
    (void)words;
    socklen_t length = sizeof address;
    sem_init(&printers, 0, 3);
    sem_init(&jobs, 0, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    if (count == 1 && fork() == 0) {
        // The clients are a process of their own, which ends with the server.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 0; i < CLIENTS; i++) pthread_create(&thread, 0, client, 0);
        for (;;) pause();
    }
    pthread_create(&thread, 0, server, 0);
    for (int i = 0; i < 8; i++) pthread_create(&thread, 0, worker, 0);
    if (count > 1)
        // Jobs that come at the workers' own pace: some workers are always idle.
        for (int i = 0; i < 3; i++) sem_post(&jobs);
    puts("ready");
    fflush(stdout);
    while (count == 1) pause();
    for (;;) {
        usleep(1000);
        sem_post(&jobs);
    }
}
