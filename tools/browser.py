"""Drives headless Chromium over its debugging protocol, with nothing but Python's own library.

    with Browser() as browser:
        browser.open("http://127.0.0.1:8000/", width=1200)
        browser.wait("document.readyState == 'complete'")
        browser.run("document.title")
        browser.picture("page.png")          # the whole page, however long
"""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


class Browser:
    def __init__(self, program=None):
        self.profile = tempfile.mkdtemp()
        program = program or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if program is None:
            raise SystemExit("tools/browser.py: Chromium is needed.")
        # port 0: one that is free; the browser writes which
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
             "--remote-allow-origins=*", "--user-data-dir=" + self.profile, "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = os.path.join(self.profile, "DevToolsActivePort")
        self.until(lambda: os.path.exists(file) and open(file).read().count("\n") >= 1, "the browser's start")
        port = open(file).read().split("\n")[0]

        def pages():
            found = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=10))
            return [p for p in found if p["type"] == "page"]

        self.until(pages, "a page")
        path = pages()[0]["webSocketDebuggerUrl"].split(port, 1)[1]
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)
        self.number = 0
        self.errors = []
        self.ask("Page.enable")
        self.ask("Runtime.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    @staticmethod
    def until(test, what, seconds=30):
        end = time.monotonic() + seconds
        while not test():
            if time.monotonic() > end:
                raise TimeoutError("waited in vain for " + what)
            time.sleep(0.1)

    def send(self, text):
        data = text.encode()
        size = len(data)
        head = b"\x81" + (bytes([0x80 | size]) if size < 126 else struct.pack("!BH", 0xFE, size) if size < 65536 else struct.pack("!BQ", 0xFF, size))
        mask = os.urandom(4)
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def exactly(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(min(1 << 20, count - len(data)))
            if not piece:
                raise ConnectionError("the browser hung up")
            data += piece
        return bytes(data)

    def receive(self):
        whole = b""
        while True:
            first, size = self.exactly(2)
            size &= 0x7F
            if size == 126:
                size = struct.unpack("!H", self.exactly(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self.exactly(8))[0]
            whole += self.exactly(size)
            if first & 0x80:
                return json.loads(whole)

    def ask(self, method, **parameters):
        self.number += 1
        self.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = self.receive()
            if answer.get("method") == "Runtime.exceptionThrown":
                details = answer["params"]["exceptionDetails"]
                self.errors.append(details.get("exception", {}).get("description", details["text"]))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]

    def open(self, address, width=1200, height=900):
        self.width = width
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Page.navigate", url=address)

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "error in: " + script))
        return answer["result"].get("value")

    def wait(self, script, seconds=30):
        self.until(lambda: self.run(script), script, seconds)

    def picture(self, file):
        tall = self.run("Math.max(document.documentElement.scrollHeight, 300)")
        clip = {"x": 0, "y": 0, "width": self.width, "height": tall, "scale": 1}
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def overflow(self):
        """Elements that stick out of the page and don't scroll by themselves."""
        return self.run("""(() => {
            const wide = document.documentElement.clientWidth + 1, out = [];
            if (document.documentElement.scrollWidth <= wide) return out;
            for (const e of document.body.querySelectorAll('*')) {
                if (e.getBoundingClientRect().right > wide) {
                    let p = e, scrolls = false;
                    while ((p = p.parentElement)) if (/auto|scroll/.test(getComputedStyle(p).overflowX)) scrolls = true;
                    if (!scrolls) out.push(e.tagName + '.' + e.className);
                }
            }
            return out.slice(0, 5);
        })()""")
