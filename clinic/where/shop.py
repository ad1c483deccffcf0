"""A shop: python3 shop.py HOST PORT. Each path is a page with a fault of its own; the environment sets the sizes of its data.

/export rounds each price in decimal arithmetic, /list fills the template of an article word by word, /cart looks for each article
in a list, /rates asks the bank while it holds a lock, and /overview computes six figures, each as expensive as the others.
"""

import os
import sys
import threading
import time
from decimal import ROUND_HALF_UP, Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def size_of(name, usual):
    """Returns a number of the environment, or the usual one."""
    return int(os.environ.get(name, usual))


EXPORTED = size_of("EXPORTED", 800)
LISTED = size_of("LISTED", 300)
IN_CART = size_of("IN_CART", 60)
ROUNDS = size_of("ROUNDS", 3)
HELD_US = size_of("HELD_US", 5000)

TEMPLATE = "<li><a href='/article/{number}'>{name}</a> {price} ({tax}% of tax, {points} points)</li>\n"


class Article:
    """An article of the shop."""

    def __init__(self, number):
        self.number, self.name, self.amount = number, f"Article {number}", number % 7 + 1
        self.price, self.weight, self.volume = number * 3 % 97 / 8, number * 5 % 89 / 8, number * 7 % 83 / 8
        self.deposit, self.tax, self.points = number * 11 % 79 / 8, number * 13 % 73 / 8, number * 17 % 71


ARTICLES = [Article(number) for number in range(1500)]
RATES = {}
RATES_LOCK = threading.Lock()


def rounded(price):  # clinic: export
    """Returns a price as its text, rounded as accountants do."""
    exact = Decimal(price).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    return format(exact, ",.2f")  # clinic: export


def export():
    return "".join(f"{article.number};{rounded(article.price)}\n" for article in ARTICLES[:EXPORTED])


def filled(article):  # clinic: list
    """Returns the entry of an article."""
    text = TEMPLATE
    for name, value in vars(article).items():
        text = text.replace("{" + name + "}", str(value))
    return text  # clinic: list


def listing():
    return "<ul>\n" + "".join(filled(article) for article in ARTICLES[:LISTED]) + "</ul>\n"


def article_of(number):  # clinic: cart
    """Returns the article with a number."""
    for article in ARTICLES:
        if article.number == number:
            return article  # clinic: cart
    return None


def cart():
    numbers = [1499 - 7 * at for at in range(IN_CART)]
    return f"{sum(article_of(number).price for number in numbers):.2f}\n"


def ask_bank(currency):
    """Asks the bank for a rate, which takes some milliseconds."""
    time.sleep(HELD_US / 1e6)  # clinic: rates-held
    return len(currency) * 1.25


def rate(currency):
    with RATES_LOCK:  # clinic: rates
        RATES[currency] = ask_bank(currency)  # clinic: rates
        return f"{RATES[currency]}\n"


def total_price():
    total = 0
    for _ in range(ROUNDS):
        for article in ARTICLES:
            total += article.price * article.amount
    return total / ROUNDS


def total_weight():
    total = 0
    for _ in range(ROUNDS):
        for article in ARTICLES:
            total += article.weight * article.amount
    return total / ROUNDS


def total_volume():
    total = 0
    for _ in range(ROUNDS):
        for article in ARTICLES:
            total += article.volume * article.amount
    return total / ROUNDS


def total_deposit():
    total = 0
    for _ in range(ROUNDS):
        for article in ARTICLES:
            total += article.deposit * article.amount
    return total / ROUNDS


def total_tax():
    total = 0
    for _ in range(ROUNDS):
        for article in ARTICLES:
            total += article.tax * article.amount
    return total / ROUNDS


def total_points():
    total = 0
    for _ in range(ROUNDS):
        for article in ARTICLES:
            total += article.points * article.amount
    return total / ROUNDS


def overview():
    figures = total_price(), total_weight(), total_volume(), total_deposit(), total_tax(), total_points()
    return " ".join(f"{figure:.2f}" for figure in figures) + "\n"


PAGES = {
    "/": lambda: "a shop\n",
    "/export": export,
    "/list": listing,
    "/cart": cart,
    "/rates": lambda: rate("euro"),
    "/overview": overview,
}


class Handler(BaseHTTPRequestHandler):
    """Serves the pages."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        page = PAGES.get(self.path)
        content = (page() if page else "not found\n").encode()
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        """Writes no line for each request."""


class Server(ThreadingHTTPServer):
    """A server with a thread for each connection."""

    request_queue_size = 1024
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Reports a failure, but not that a client has closed its connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: shop.py HOST PORT")
    Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
