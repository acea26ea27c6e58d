"""Tries decision_ray.py on a Ray of its own: `npm run check:ray`. Needs a built checkout and Python with `ray[serve]`, at RAY_PYTHON."""

import asyncio
import json
import os
import pathlib
import shlex
import signal
import socket
import sys
import time

ROOT = pathlib.Path(__file__).parent.parent.parent
MOST = 2
CALLERS = 12
# at what is waited for, each with an answer of Ray's: four minutes on a machine that does nothing else, longer on a busy one
MOST_LOOKS = 1200
# a test's haste: operators wait longer
SETTINGS = {
    "DECISION_COMMAND": f"node {shlex.quote(str(ROOT / 'bin/decision.js'))} serve",
    "DECISION_RAY_MAX_REPLICAS": str(MOST),
    "DECISION_RAY_TARGET_WAIT_S": "0.2",
    "DECISION_RAY_UP_AFTER_S": "1",
    "DECISION_RAY_DOWN_AFTER_S": "5",
    "DECISION_RAY_WINDOW_S": "11",
    "RAY_SERVE_REPLICA_AUTOSCALING_METRIC_PUSH_INTERVAL_S": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    # a busy machine starts Python slowly
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "55",
    "RAY_worker_register_timeout_seconds": "120",
}
os.environ.update(SETTINGS)
sys.path.insert(0, str(pathlib.Path(__file__).parent))
os.environ["PYTHONPATH"] = str(pathlib.Path(__file__).parent)

import aiohttp  # noqa: E402
import ray  # noqa: E402
from ray import serve  # noqa: E402

QUESTION = {"type": "noul", "instructions": "The customer is angry."}
BODY = {"state": "You are all useless. I want to speak to a manager now!", "questions": {"angry": QUESTION}}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def commands() -> dict[int, tuple[int, str]]:
    """Parent and command line of each process."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue  # it has ended
        found[int(folder.name)] = (parent, line)
    return found


def replicas() -> dict[int, int]:
    """Services of the replicas of this run, by the replica's process."""
    mine = SETTINGS["DECISION_COMMAND"].split()[1].strip("'")
    all_of = commands()
    return {parent: pid for pid, (parent, line) in all_of.items() if mine in line and "ServeReplica" in all_of.get(parent, (0, ""))[1]}


def running() -> int:
    return serve.status().applications["default"].deployments["Decision"].replica_states.get("RUNNING", 0)


async def until(what: str, is_so) -> float:
    """@returns seconds that it took"""
    began = time.monotonic()
    for _ in range(MOST_LOOKS):
        if is_so():
            return time.monotonic() - began
        await asyncio.sleep(0.2)
    raise AssertionError(f"looked for in vain, {MOST_LOOKS} times: {what}")


class Load:
    """Callers that ask one request after the other, each with a state of its own."""

    def __init__(self, http: aiohttp.ClientSession):
        self.http = http
        self.is_over = False
        self.good = 0
        self.failures: list[tuple[float, float, str]] = []  # begin, end, what
        self.tasks = [asyncio.create_task(self.call(number)) for number in range(CALLERS)]

    async def call(self, number: int) -> None:
        turn = 0
        while not self.is_over:
            turn += 1
            text = f"Order {number}-{turn}: " + "the parcel has not come and nobody answers the phone. " * 8
            questions = {f"q{i}": {**QUESTION, "instructions": f"The customer asks for the {i}th time."} for i in range(4)}
            began = time.monotonic()
            try:
                async with self.http.post("/v1/systemone", json={"state": text, "questions": questions}) as reply:
                    answer = await reply.text()
                    fault = None if reply.status == 200 and len(json.loads(answer)["answers"]) == 4 else f"{reply.status} {answer[:120]}"
            except aiohttp.ClientError as error:
                fault = repr(error)
            if fault is None:
                self.good += 1
            else:
                self.failures.append((began, time.monotonic(), fault))
                await asyncio.sleep(0.2)

    async def end(self) -> None:
        self.is_over = True
        await asyncio.gather(*self.tasks)


async def check(port: int) -> None:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", timeout=aiohttp.ClientTimeout(total=None)) as http:
        async with http.post("/v1/systemone", json=BODY) as reply:
            answer = await reply.json()
            assert reply.status == 200 and answer["answers"]["angry"]["noul"] > 0.5, answer
        async with http.post("/v1/systemone", json={"state": "x"}) as reply:
            assert reply.status == 422 and reply.headers["x-decision-error"] == "INVALID_REQUEST", reply
        async with http.get("/nowhere?a=b") as reply:
            assert reply.status == 404, reply
        print("a replica answers as the service does: 200, 422 with its code, 404")
        assert running() == 1

        load = Load(http)
        up = await until("more replicas under load", lambda: running() == MOST)
        print(f"under load from {CALLERS} callers: {MOST} replicas after {up:.0f} s")
        assert load.failures == [], load.failures[:3]

        answered = load.good
        await until("all replicas have requests", lambda: load.good > answered + 4 * CALLERS)
        before = replicas()
        assert len(before) == MOST, before
        victim, service = next(iter(before.items()))
        killed_at = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        await until("the service of a killed replica ends", lambda: service not in commands())
        is_back = lambda: running() == MOST and len(replicas()) == MOST and victim not in replicas()  # noqa: E731
        await until("another replica in its place", is_back)
        back_at = time.monotonic()
        answered = load.good
        await until("requests are answered again", lambda: load.good > answered + 4 * CALLERS)
        await load.end()
        print(f"a killed replica takes its service with it, and is replaced after {back_at - killed_at:.0f} s")
        under_way = [failure for failure in load.failures if failure[0] < killed_at]
        after = [failure for failure in load.failures if failure[0] >= killed_at]
        # Ray may still send some to it until it has heard of its death: within a second where the machine does nothing else
        assert len(under_way) <= CALLERS and all(began < back_at for began, _, _ in after), load.failures
        last = max((began - killed_at for began, _, _ in after), default=0)
        print(f"{load.good} requests answered; lost: {len(under_way)} under way at the kill, {len(after)} sent within {last:.1f} s after it")
        for what in sorted({what for _, _, what in load.failures}):
            print(f"  as its caller saw it: {what}")

        down = await until("one replica without load", lambda: running() == 1 and len(replicas()) == 1)
        print(f"without load: 1 replica after {down:.0f} s")


def main() -> None:
    port = free_port()
    ray.init(num_cpus=MOST + 2, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        import decision_ray

        serve.start(http_options={"host": "127.0.0.1", "port": port}, logging_config={"log_level": "ERROR"})
        serve.run(decision_ray.app)
        asyncio.run(check(port))
    finally:
        serve.shutdown()
        ray.shutdown()


main()
