/* A small HTTP server with a thread for each connection, for shop.c. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef COZ
#include <coz.h>

/* Ends the program, so that coz writes its profile. */
static void end(int signal) {
    exit(signal == SIGTERM ? 0 : 1);
}
#endif

enum { RESPONSE = 64 * 1024, REQUEST = 8 * 1024 };

/* Writes the content of a response into a buffer of RESPONSE bytes, and returns its length, or -1 for an unknown path. */
typedef int (*handler)(const char *path, char *content);

static handler handle;

static int respond(int connection, const char *path, int closes, char *content, char *response) {
    int length = handle(path, content);
    const char *status = length < 0 ? "404 Not Found" : "200 OK";
    if (length < 0) length = snprintf(content, RESPONSE, "not found\n");
    int head = snprintf(response, REQUEST, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n%s\r\n",
                        status, length, closes ? "Connection: close\r\n" : "");
    memcpy(response + head, content, (size_t)length);
    int written = write(connection, response, (size_t)(head + length)) == head + length;
#ifdef COZ
    COZ_PROGRESS_NAMED("response");
#endif
    return written;
}

static void *serve_connection(void *given) {
    int connection = (int)(long)given;
    char *buffer = malloc(REQUEST + 2 * RESPONSE + REQUEST), *content = buffer + REQUEST, *response = content + RESPONSE;
    size_t length = 0;
    for (;;) {
        ssize_t got = read(connection, buffer + length, REQUEST - 1 - length);
        if (got <= 0) break;
        length += (size_t)got;
        buffer[length] = 0;
        if (strstr(buffer, "\r\n\r\n") == NULL) {
            if (length + 1 >= REQUEST) break;
            continue;
        }
        int closes = strcasestr(buffer, "connection: close") != NULL;
        char path[256] = "";
        sscanf(buffer, "%*s %255s", path);
        length = 0;
        if (!respond(connection, path, closes, content, response) || closes) break;
    }
    close(connection);
    free(buffer);
    return NULL;
}

static int serve(const char *host, const char *port, handler with) {
    handle = with;
    signal(SIGPIPE, SIG_IGN);
#ifdef COZ
    signal(SIGTERM, end);
#endif
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    inet_pton(AF_INET, host, &address.sin_addr);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) {
        perror("listen");
        return 1;
    }
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        pthread_t thread;
        if (connection >= 0 && pthread_create(&thread, &small, serve_connection, (void *)(long)connection) != 0)
            close(connection);
    }
}
