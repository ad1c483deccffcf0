/* A shop: shop HOST PORT. Each path is a page with a fault of its own; the environment sets the sizes of its data.
 *
 * /quote     looks for the discount of each article in a list of rules
 * /receipt   computes the check digits of a receipt bit by bit
 * /stock     asks the supplier for the stock while it holds the lock of the stock
 * /label     prints labels on a few printers
 * /overview  computes six figures, each as expensive as the others */
#include "http.h"
#include <semaphore.h>
#include <time.h>

enum { ARTICLES = 64, LINES = 960 };

struct rule {
    unsigned article, least;
    double percent;
};

struct article {
    unsigned number, amount;
    double price, weight, volume, deposit, tax, points;
};

static struct rule *rules;
static struct article articles[ARTICLES];
static char receipt_lines[RESPONSE];
static size_t rule_count, receipt_length, overview_rounds, held_us;
static pthread_mutex_t stock_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned stock[ARTICLES];
static sem_t printers;

/* Returns a number of the environment, or the usual one. */
static size_t size_of(const char *name, size_t usual) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : usual;
}

/* Returns the best discount for an article: the list is not sorted, so all of it is read. */
static double discount_of(const struct article *article) { /* clinic: quote */
    double best = 0;
    for (size_t at = 0; at < rule_count; at++) {
        const struct rule *rule = &rules[at];
        if (rule->article == article->number && rule->least <= article->amount && rule->percent > best)
            best = rule->percent;
    }
    return best;
} /* clinic: quote */

static int quote(char *content) {
    double total = 0;
    int length = 0;
    for (size_t at = 0; at < 48; at++) {
        double price = articles[at].price * articles[at].amount * (1 - discount_of(&articles[at]) / 100);
        total += price;
        length += snprintf(content + length, RESPONSE - (size_t)length, "%u x %u: %.2f\n", articles[at].amount,
                           articles[at].number, price);
    }
    return length + snprintf(content + length, RESPONSE - (size_t)length, "total: %.2f\n", total);
}

/* Returns the CRC-32 of some text, a bit at a time. */
static unsigned check_digits(const char *text, size_t length) { /* clinic: receipt */
    unsigned digits = ~0U;
    for (size_t at = 0; at < length; at++) {
        digits ^= (unsigned char)text[at];
        for (int bit = 0; bit < 8; bit++) digits = (digits >> 1) ^ (digits & 1 ? 0xedb88320U : 0);
    }
    return ~digits;
} /* clinic: receipt */

/* Writes the lines of a receipt, which are the same for each request. */
static void write_lines(void) {
    int length = 0;
    for (int line = 0; line < LINES; line++) {
        const struct article *article = &articles[line % ARTICLES];
        length += snprintf(receipt_lines + length, RESPONSE - (size_t)length, "%3d  article %5u  %8.2f  %6.2f%%\n", line + 1,
                           article->number, article->price * article->amount, article->tax);
    }
}

static int receipt(char *content) {
    size_t length = strlen(receipt_lines), checked = receipt_length < length ? receipt_length : length;
    unsigned digits = check_digits(receipt_lines, checked);
    return snprintf(content, RESPONSE, "receipt of %zu bytes, check digits %08x\n", length, digits);
}

/* Asks the supplier how many of an article it has, which takes some milliseconds. */
static unsigned ask_supplier(unsigned number) {
    nanosleep(&(struct timespec){.tv_nsec = (long)held_us * 1000}, NULL); /* clinic: stock-held */
    return number * 7 % 100;
}

static int stock_page(char *content) {
    unsigned number = articles[0].number;
    pthread_mutex_lock(&stock_lock); /* clinic: stock */
    unsigned count = stock[0] = ask_supplier(number); /* clinic: stock */
    pthread_mutex_unlock(&stock_lock);
    return snprintf(content, RESPONSE, "%u of article %u\n", count, number);
}

/* Prints a label, which takes some milliseconds. */
static void print_label(void) {
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* clinic: label-held */
}

static int label(char *content) {
    sem_wait(&printers); /* clinic: label */
    print_label(); /* clinic: label */
    sem_post(&printers);
    return snprintf(content, RESPONSE, "printed\n");
}

/* Six figures, of the same form. */
#define FIGURE(name, field)                                                         \
    static double name(void) {                                                      \
        double sum = 0;                                                             \
        for (size_t round = 0; round < overview_rounds; round++)                    \
            for (size_t at = 0; at < ARTICLES; at++) sum += articles[at].field * articles[at].amount; \
        return sum / (double)overview_rounds;                                       \
    }
FIGURE(total_price, price)
FIGURE(total_weight, weight)
FIGURE(total_volume, volume)
FIGURE(total_deposit, deposit)
FIGURE(total_tax, tax)
FIGURE(total_points, points)

static int overview(char *content) {
    return snprintf(content, RESPONSE, "price %.2f\nweight %.2f\nvolume %.2f\ndeposit %.2f\ntax %.2f\npoints %.2f\n",
                    total_price(), total_weight(), total_volume(), total_deposit(), total_tax(), total_points());
}

static int page(const char *path, char *content) {
    if (strcmp(path, "/quote") == 0) return quote(content);
    if (strcmp(path, "/receipt") == 0) return receipt(content);
    if (strcmp(path, "/stock") == 0) return stock_page(content);
    if (strcmp(path, "/label") == 0) return label(content);
    if (strcmp(path, "/overview") == 0) return overview(content);
    return strcmp(path, "/") == 0 ? snprintf(content, RESPONSE, "a shop\n") : -1;
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: shop HOST PORT\n");
        return 2;
    }
    rule_count = size_of("RULES", 80000);
    receipt_length = size_of("CHECKED", 32000);
    overview_rounds = size_of("ROUNDS", 2000);
    held_us = size_of("HELD_US", 2000);
    sem_init(&printers, 0, (unsigned)size_of("PRINTERS", 3));
    rules = calloc(rule_count, sizeof *rules);
    for (size_t at = 0; at < rule_count; at++)
        rules[at] = (struct rule){.article = (unsigned)(at * 31 % 997), .least = (unsigned)(at % 5), .percent = (double)(at % 30)};
    for (unsigned at = 0; at < ARTICLES; at++)
        articles[at] = (struct article){.number = at * 13 % 997, .amount = at % 7 + 1, .price = 1.5 + at, .weight = 0.2 * at,
                                        .volume = 0.1 * at, .deposit = 0.25, .tax = 0.19 * at, .points = at % 9};
    write_lines();
    return serve(words[1], words[2], page);
}
