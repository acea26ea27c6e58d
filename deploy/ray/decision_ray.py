"""Replicas of the decision service under Ray Serve: `serve run decision_ray:app`.

Each replica starts one whole service on a Unix socket and passes requests on to it. Ray starts further replicas when requests would
wait for longer than the target. deploy/ray/README.md has the variables.
"""

import asyncio
import ctypes
import math
import os
import shlex
import signal
import subprocess
import tempfile

import aiohttp
from ray import serve
from ray.serve.config import AutoscalingConfig, AutoscalingContext, AutoscalingPolicy
from starlette.requests import Request
from starlette.responses import Response

COMMAND = shlex.split(os.environ.get("DECISION_COMMAND", "decision serve"))
CPUS = float(os.environ.get("DECISION_RAY_CPUS", "1"))  # of a replica
MIN_REPLICAS = int(os.environ.get("DECISION_RAY_MIN_REPLICAS", "1"))
MAX_REPLICAS = int(os.environ.get("DECISION_RAY_MAX_REPLICAS", "4"))
TARGET_WAIT_S = float(os.environ.get("DECISION_RAY_TARGET_WAIT_S", "0.5"))
UP_AFTER_S = float(os.environ.get("DECISION_RAY_UP_AFTER_S", "10"))
DOWN_AFTER_S = float(os.environ.get("DECISION_RAY_DOWN_AFTER_S", "300"))
WINDOW_S = float(os.environ.get("DECISION_RAY_WINDOW_S", "12"))
START_S = 120
# the service refuses by its own queue (503 with Retry-After), so Ray holds none back
MOST_ONGOING = 1000
PR_SET_PDEATHSIG = 1

# between two connections, not between two ends
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length", "host"}


def by_queue_wait(context: AutoscalingContext) -> tuple[int, dict]:
    """As many replicas as bring the mean wait to the target, and no state. Ray applies bounds and delays."""
    waits = (context.aggregated_metrics or {}).get("estimated_wait_seconds", {})
    if not waits:
        return context.target_num_replicas, {}
    return max(1, math.ceil(sum(waits.values()) / TARGET_WAIT_S)), {}


def die_with_parent() -> None:
    """In the child, on Linux: a replica that is killed takes its service with it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@serve.deployment(
    max_ongoing_requests=MOST_ONGOING,
    health_check_period_s=2,
    health_check_timeout_s=10,
    graceful_shutdown_timeout_s=90,
    ray_actor_options={"num_cpus": CPUS},
    autoscaling_config=AutoscalingConfig(
        min_replicas=MIN_REPLICAS,
        max_replicas=MAX_REPLICAS,
        look_back_period_s=WINDOW_S,
        upscale_delay_s=UP_AFTER_S,
        downscale_delay_s=DOWN_AFTER_S,
        policy=AutoscalingPolicy(policy_function=by_queue_wait),
    ),
)
class Decision:
    async def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="decision-")
        socket = os.path.join(self.folder.name, "socket")
        self.service = subprocess.Popen([*COMMAND, "--socket", socket], preexec_fn=die_with_parent)
        self.http = aiohttp.ClientSession(
            "http://decision",
            connector=aiohttp.UnixConnector(path=socket, limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
        )
        for _ in range(START_S * 10):
            if self.service.poll() is not None:
                raise RuntimeError(f"{COMMAND[0]} ended with exit code {self.service.returncode}")
            if await self.is_ready():
                return
            await asyncio.sleep(0.1)
        raise RuntimeError(f"the service is not ready after {START_S} s")

    async def is_ready(self) -> bool:
        try:
            async with self.http.get("/ready") as response:
                return response.status == 200
        except aiohttp.ClientError:
            return False

    async def check_health(self) -> None:
        """Ray replaces a replica that raises here three times."""
        if self.service.poll() is not None:
            raise RuntimeError(f"the service ended with exit code {self.service.returncode}")

    # what `by_queue_wait` reads, by replica
    async def record_autoscaling_stats(self) -> dict[str, float]:
        headers = {"authorization": f"Bearer {key}"} if (key := os.environ.get("DECISION_API_KEY")) else {}
        async with self.http.get("/health", headers=headers) as response:
            health = await response.json()
        return {"estimated_wait_seconds": float(health["estimated_wait_seconds"])}

    async def __call__(self, request: Request) -> Response:
        url = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        headers = [(name, value) for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP]
        body = await request.body()
        try:
            async with self.http.request(request.method, url, headers=headers, data=body or None) as answer:
                content = await answer.read()
        except aiohttp.ClientError:
            # it was computed or not: a decision may be asked again
            return Response('{"detail": "The service of this replica ended."}', 503, {"retry-after": "1"}, "application/json")
        reply = Response(content, answer.status)
        reply.raw_headers = [
            (name.lower(), value)
            for name, value in answer.raw_headers
            if name.lower().decode() not in HOP_BY_HOP
        ]
        reply.raw_headers.append((b"content-length", str(len(content)).encode()))
        return reply

    async def __del__(self) -> None:
        await self.http.close()
        self.service.terminate()  # it answers what it has accepted
        await asyncio.to_thread(self.service.wait)


app = Decision.bind()
