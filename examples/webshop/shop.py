"""A small web shop with three faults, to try `torr doctor` on: docs/where.md goes through them.

    python3 examples/webshop/shop.py 8000

Python and its standard library are all that it needs. Pages: /catalogue, /category/7 and /stock/7. Words behind the port mend a
fault: `template`, `index`, `lock`.
"""

import os
import signal
import sqlite3
import string
import sys
import tempfile
import threading
import time
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CATEGORIES = 500
PRODUCTS = 120_000
ROW = "<tr><td><a href='/stock/$number'>$name</a></td><td>$price</td></tr>\n"

mended = set(sys.argv[2:])
folder = tempfile.TemporaryDirectory(prefix="webshop-")
local = threading.local()
recommended = []


# The data.

def database():
    """Returns this thread's connection to the database."""
    if not hasattr(local, "connection"):
        local.connection = sqlite3.connect(os.path.join(folder.name, "shop.db"))
    return local.connection


def create():
    """Fills the database."""
    with database() as connection:
        connection.execute("CREATE TABLE products (number INTEGER PRIMARY KEY, category INTEGER, name TEXT, price REAL)")
        rows = ((n, n * 7 % CATEGORIES, f"Lamp & shade no. {n}", n % 97 / 4) for n in range(PRODUCTS))
        connection.executemany("INSERT INTO products VALUES (?, ?, ?, ?)", rows)
        recommended.extend(connection.execute("SELECT number, name, price FROM products LIMIT 300"))
        if "index" in mended:
            connection.execute("CREATE INDEX products_of_category ON products (category)")


def products_of(category):
    """Returns the cheapest products of a category."""
    query = "SELECT number, name, price FROM products WHERE category = ? ORDER BY price, number LIMIT 10"
    return database().execute(query, (category,)).fetchall()


# The pages.

row_template = string.Template(ROW)


def render_row(number, name, price):
    """Returns a product's row of a table."""
    if "template" in mended:
        return f"<tr><td><a href='/stock/{number}'>{escape(name)}</a></td><td>{price:.2f}</td></tr>\n"
    return row_template.substitute(number=number, name=escape(name), price=f"{price:.2f}")


def table(products):
    """Returns a page with a table of products."""
    return "<table>\n" + "".join(render_row(*product) for product in products) + "</table>\n"


def catalogue():
    """The page /catalogue."""
    return table(recommended)


def category_page(category):
    """The page /category/N."""
    return table(products_of(category))


# The stock, which the warehouse knows.

stock = {}
stock_lock = threading.Lock()


def ask_warehouse(number):
    """Asks the warehouse for the stock of a product, which takes 10 ms."""
    time.sleep(0.010)
    return number * 7 % 40


def stock_of(number):
    """Returns the stock of a product, which is kept for half a second."""
    if "lock" in mended:
        known = stock.get(number)
        if known is None or known[1] < time.monotonic():
            known = ask_warehouse(number), time.monotonic() + 0.5
            with stock_lock:
                stock[number] = known
        return known[0]
    with stock_lock:
        known = stock.get(number)
        if known is None or known[1] < time.monotonic():
            known = stock[number] = ask_warehouse(number), time.monotonic() + 0.5
        return known[0]


requests = iter(range(sys.maxsize))


def stock_page(number):
    """The page /stock/N. Every request of it is about another product, as in a shop with many visitors."""
    product = (number + next(requests)) % PRODUCTS
    return f"<p>{stock_of(product)} in stock</p>\n"


# The server.

def page(path):
    """Returns the content of a path. `None` if there is no such page."""
    match path.strip("/").split("/"):
        case [""]:
            return "<p>a web shop</p>\n"
        case ["catalogue"]:
            return catalogue()
        case ["category", number] if number.isdigit():
            return category_page(int(number) % CATEGORIES)
        case ["stock", number] if number.isdigit():
            return stock_page(int(number))
    return None


class Handler(BaseHTTPRequestHandler):
    """Serves the pages."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # Header section and content leave in one write.
    wbufsize = -1

    def do_GET(self):
        content = page(self.path)
        text = (content or "<p>not found</p>\n").encode()
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        """Writes no line for each request."""


class Server(ThreadingHTTPServer):
    """A thread for each connection."""

    request_queue_size = 1024
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Reports a failure, but not that a client has closed its connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    if len(sys.argv) < 2 or mended - {"template", "index", "lock"}:
        sys.exit("usage: shop.py PORT [template] [index] [lock]")
    # The folder of the database is removed at the end, also at that of `kill`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    create()
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
