/* A shop's report: report HOST PORT, and the page /report. Requests rank articles one at a time, while a thread beside them builds
 * the index of the search again and again and takes more CPU time than they do: making it faster brings nothing. */
#include "../where/http.h"
#include <time.h>

enum { ARTICLES = 20000 };

static unsigned sold[ARTICLES], words[ARTICLES];
static pthread_mutex_t ranking = PTHREAD_MUTEX_INITIALIZER;

/* Returns the number of articles that sold better than others: each is compared with some others. */
static unsigned rank_articles(void) {
    unsigned better = 0;
    for (unsigned at = 0; at < ARTICLES; at++)
        for (unsigned other = 1; other < 24; other++) better += sold[at] > sold[(at + other * 37) % ARTICLES];
    return better;
}

/* Returns check digits of the numbers of the best articles. */
static unsigned check_digits(unsigned seed) {
    unsigned digits = seed;
    for (unsigned at = 0; at < 6 * ARTICLES; at++) digits = digits * 1664525 + words[at % ARTICLES];
    return digits;
}

/* Builds the index of the search, always again. */
static void *build_index(void *unused) {
    (void)unused;
    for (;;) {
        for (unsigned at = 0; at < ARTICLES; at++) {
            unsigned hash = 2166136261U;
            for (unsigned letter = 0; letter < 16; letter++) hash = (hash ^ (at >> letter)) * 16777619U;
            words[at] = hash;
        }
    }
    return NULL;
}

static int page(const char *path, char *content) {
    if (strcmp(path, "/") == 0) return snprintf(content, RESPONSE, "a shop\n");
    if (strcmp(path, "/report") != 0) return -1;
    pthread_mutex_lock(&ranking);
    unsigned better = rank_articles(), digits = check_digits(better);
    pthread_mutex_unlock(&ranking);
    return snprintf(content, RESPONSE, "%u %08x\n", better, digits);
}

int main(int count, char **words_given) {
    if (count != 3) {
        fprintf(stderr, "usage: report HOST PORT\n");
        return 2;
    }
    for (unsigned at = 0; at < ARTICLES; at++) sold[at] = at * 7919 % 10007;
    pthread_t thread;
    pthread_create(&thread, NULL, build_index, NULL);
    return serve(words_given[1], words_given[2], page);
}
