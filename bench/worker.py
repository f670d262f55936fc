"""The bench's side of a Python peer: a file request-N of key=value lines in, a file reply-N out.

The process lives as long as the bench, so neither start-up nor the transfer of data counts as time.
"""

import os
import time


def serve(directory, version, answer, forget=lambda: None):
    """Writes `ready`, then answers by answer(request) -> text until told to quit or until the bench is gone."""
    parent = os.getppid()
    with open(os.path.join(directory, "ready.part"), "w") as file:
        file.write(version)
    os.rename(os.path.join(directory, "ready.part"), os.path.join(directory, "ready"))
    number = 1
    while os.path.isdir(directory) and os.getppid() == parent:
        path = os.path.join(directory, f"request-{number}")
        if not os.path.exists(path):
            time.sleep(0.003)
            continue
        with open(path) as file:
            request = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
        if request.get("work") == "quit":
            return
        if request.get("work") == "forget":
            forget()
            reply = "0"
        else:
            try:
                reply = answer(request)
            except Exception as error:  # the row says so, the bench goes on
                reply = "error " + repr(error).replace("\n", " ")[:300]
        with open(os.path.join(directory, "reply.part"), "w") as file:
            file.write(reply + "\n")
        os.rename(os.path.join(directory, "reply.part"), os.path.join(directory, f"reply-{number}"))
        number += 1
