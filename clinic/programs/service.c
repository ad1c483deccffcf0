/* An HTTP server with a thread for each connection: service HOST PORT KIND BACKLOG
 * KIND is what a request does: compute, compute-locked (one thread at a time), sync (write to a disk), sync-locked, sleep. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *kind;
static int file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* About 1 ms. */
static void compute(void) {
    volatile unsigned long state = 1;
    for (int round = 0; round < 400000; round++) state = state * 6364136223846793005UL + 1;
}

static void work(void) {
    int locked = strstr(kind, "-locked") != NULL;
    if (locked) pthread_mutex_lock(&lock);
    if (strncmp(kind, "compute", 7) == 0) compute();
    if (strncmp(kind, "sync", 4) == 0 && (pwrite(file, "order\n", 6, 0) != 6 || fsync(file) != 0)) perror("sync");
    if (locked) pthread_mutex_unlock(&lock);
    if (strcmp(kind, "sleep") == 0) usleep(5000);
}

static void *serve(void *given) {
    static const char response[] = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n<p>Hello, world!</p>";
    static const char closing[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\nConnection: close\r\n\r\n<p>Hello, world!</p>";
    int connection = (int)(long)given;
    char buffer[8192];
    size_t length = 0;
    for (;;) {
        ssize_t got = read(connection, buffer + length, sizeof buffer - 1 - length);
        if (got <= 0) break;
        length += (size_t)got;
        buffer[length] = 0;
        if (strstr(buffer, "\r\n\r\n") == NULL) {
            if (length + 1 >= sizeof buffer) break;
            continue;
        }
        int closes = strcasestr(buffer, "connection: close") != NULL;
        length = 0;
        work();
        const char *out = closes ? closing : response;
        size_t size = closes ? sizeof closing - 1 : sizeof response - 1;
        if (write(connection, out, size) != (ssize_t)size || closes) break;
    }
    close(connection);
    return NULL;
}

int main(int count, char **words) {
    if (count != 5) return 2;
    kind = words[3];
    file = open("orders", O_CREAT | O_WRONLY, 0600);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[2]))};
    inet_pton(AF_INET, words[1], &address.sin_addr);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, atoi(words[4])) != 0) {
        perror("listen");
        return 1;
    }
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 * 1024);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        pthread_t thread;
        if (connection >= 0 && pthread_create(&thread, &small, serve, (void *)(long)connection) != 0) close(connection);
    }
}
