"""The worker process. Its parent starts it with pipes at stdin and stdout, sends what `wire` describes, and kills it when it hangs.

    python -m decision_native DEVICE PRECISION strict|batched

Nothing but the standard library is imported before the pipes work, so that whatever is missing can be told through them.
"""

import os
import queue
import signal
import sys
import threading

from .prepare import import_torch
from .refusal import Refusal
from .wire import read_message, write_message


def main():
    # a signal to the process group means the service, which first answers what it has accepted
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    die_with_parent()
    source = sys.stdin.buffer
    # what a library prints must not come between the messages
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    messages = queue.SimpleQueue()
    threading.Thread(target=receive, args=(source, messages), daemon=True).start()
    device, precision, mode = sys.argv[1:4]
    worker = Worker(target, device, precision, mode == "strict")
    while True:
        worker.handle(*messages.get())


def die_with_parent():
    """Linux kills this process with its parent, also while it hangs where no other thread of Python can run."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (ImportError, OSError, AttributeError):
        pass  # the end of stdin tells it as well


def receive(source, messages):
    """Ends the process with its parent, also in the middle of a run."""
    while True:
        try:
            message = read_message(source)
        except ValueError as error:
            print(f"decision_native: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        if message is None:
            os._exit(0)
        messages.put(message)


class Worker:
    def __init__(self, target, device, precision, is_strict):
        self.target = target
        self.runner = None
        self.refusal = None
        try:
            # while the service reads the package
            self.settings = prepare(device, precision, is_strict)
        except Refusal as refusal:
            self.refusal = refusal

    def handle(self, header, payload):
        if header["type"] == "ping":
            self.send({"type": "pong", **self.counters()})
        elif header["type"] == "load":
            self.load(header)
        else:
            self.score(header, payload)

    def load(self, header):
        try:
            if self.refusal is not None:
                raise self.refusal
            from .load import load_runner

            self.runner = load_runner(header, self.settings)
        except Refusal as refusal:
            self.send({"type": "refused", "reason": refusal.reason, "message": str(refusal)})
        else:
            self.send({"type": "loaded", "facts": self.runner.facts})

    def score(self, header, payload):
        from .load import is_lost, sentence_of
        from .plan import read_nodes

        try:
            result = self.runner.score(read_nodes(header["lengths"], header["parents"], header["keys"], payload))
        except Exception as error:  # the next batch may be scored
            self.send({"type": "failed", "id": header["id"], "message": sentence_of(error)})
            if is_lost(error):
                os._exit(1)  # nothing more can be computed on the device: a new process can
        else:
            facts = {"forwards": result.forwards, "cachedTokens": result.cached_tokens}
            sizes = {"pairs": len(result.scores), "width": result.width}
            self.send({"type": "scored", "id": header["id"], **facts, **sizes, **self.counters()}, result.bytes())
            return
        self.runner.forget()  # not before: until here the error has kept what the run had allocated

    def counters(self):
        hits, misses = (0, 0) if self.runner is None else self.runner.state_counts
        return {"stateHits": hits, "stateMisses": misses, "residentBytes": resident_bytes()}

    def send(self, header, payload=b""):
        try:
            write_message(self.target, header, payload)
        except OSError:
            os._exit(0)  # the parent has died


def prepare(device, precision, is_strict):
    """@throws Refusal where Python, PyTorch, a driver or a device is missing"""
    import_torch()
    from .device import choose
    from .load import sentence_of

    try:
        return choose(device, precision, is_strict)
    except Refusal:
        raise
    except Exception as error:  # of a driver
        raise Refusal("BACKEND_FAILED", f"--device {device} cannot be used: {sentence_of(error)}") from error


def resident_bytes():
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        pass
    try:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    except ImportError:
        return 0


main()
