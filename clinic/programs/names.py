"""A name server that has an answer for each query after a while: python3 names.py HOST MILLISECONDS"""
import heapq
import select
import socket
import sys
import time

host, pause = sys.argv[1], float(sys.argv[2]) / 1000
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((host, 53))
due = []
while True:
    rest = max(0.0, due[0][0] - time.monotonic()) if due else None
    if select.select([server], [], [], rest)[0]:
        query, client = server.recvfrom(512)
        heapq.heappush(due, (time.monotonic() + pause, query, client))
    while due and due[0][0] <= time.monotonic():
        _, query, client = heapq.heappop(due)
        # The query's id, a response without error, and one address.
        head = query[:2] + b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00"
        server.sendto(head + query[12:] + b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x01", client)
