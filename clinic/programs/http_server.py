"""Python's own HTTP server, which sends an answer's head and its body by themselves unless it is
buffered: python3 http_server.py HOST PORT [buffered]"""
import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1 if "buffered" in sys.argv else 0

    def do_GET(self):
        body = b"<p>Hello, world!</p>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024


Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
