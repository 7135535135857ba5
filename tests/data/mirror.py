#!/usr/bin/env python3
"""A mirror for fetch_test.sh that misbehaves on demand: mirror.py ROOT LOG. Prints its port; serves 127.0.0.1 only.

/MODE/PATH serves ROOT/PATH; every request is a line "MODE PATH FIRST_BYTE" in LOG.
  good     ranges work                     norange  answers every request with the whole file
  drop     closes the connection half way through what was asked for; ranges work
  short    a file cut in half that claims to be whole          wrong  a web page instead of the file
  endless  zeros until the client hangs up                     loop     redirects to itself
  astray   redirects to a file of this machine
  slow     64 KB, then nothing more; ranges work               error  HTTP 503
"""

import http.server
import pathlib
import re
import sys
import time

ROOT, LOG = pathlib.Path(sys.argv[1]), sys.argv[2]


class Mirror(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mode, path = self.path.lstrip("/").split("/", 1)
        asked = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        first = int(asked.group(1)) if asked and mode != "norange" else 0
        with open(LOG, "a") as log:
            log.write(f"{mode} {path} {first}\n")
        file = ROOT / path
        if mode in ("loop", "astray"):
            self.send_response(302)
            self.send_header("Location", self.path if mode == "loop" else "file:///etc/passwd")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if mode == "endless":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(bytes(1 << 16))
        if mode == "error":
            return self.send_error(503)
        if not file.is_file():
            return self.send_error(404)
        data = file.read_bytes()
        if mode == "short":
            data = data[: len(data) // 2]
        elif mode == "wrong":
            data = b"<html>Please log in</html>" * 100
        if first >= len(data) > 0 and first > 0:
            return self.send_error(416)
        body = data[first:]
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if mode == "drop" else body[: 1 << 16] if mode == "slow" else body)
        if mode == "slow":
            self.wfile.flush()
            time.sleep(60)

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass  # a client that was told to hang up

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
