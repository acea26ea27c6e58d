"""What the programs in Python share."""

import json
import os
import urllib.request

PLAIN_URL = os.environ["READY_PLAIN_URL"]
URL = os.environ["READY_URL"]
FULL_URL = os.environ["READY_FULL_URL"]
SLOW_URL = os.environ["READY_SLOW_URL"]
KEY = os.environ["READY_KEY"]

checks = 0


def plain(path, body):
    """The plain contract's answer to the same question."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(PLAIN_URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def check(what, holds):
    """Ends the program where something does not hold."""
    global checks
    if not holds:
        raise SystemExit(f"{what}: does not hold")
    checks += 1


def close(actual, expected, tolerance=0.005 + 1e-9):
    """Whether numbers differ by rounding to two decimals at most."""
    return abs(actual - expected) <= tolerance


def raised(call):
    """What a call raises."""
    try:
        call()
    except Exception as error:
        return error
    raise SystemExit("an error was expected")


def report():
    """The one line that a program prints."""
    print(f"{checks} checks")
