"""celery with Redis as its broker and for its results: a worker, delayed tasks,
retries, a chord, and a task whose worker was killed."""
import os
import signal
import subprocess
import sys
import time

import redis
from celery import Celery, chord, group

from until import until

url = "redis://" + os.environ["SERVER"]
app = Celery("celery_program", broker=url + "/0", backend=url + "/0")
app.conf.update(
    broker_transport_options={"visibility_timeout": int(os.environ.get("VISIBILITY", "3600"))},
    broker_connection_retry=False,
    worker_hijack_root_logger=False,
    result_expires=600,
)
server = redis.Redis.from_url(url)


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def stamp():
    return time.time()


@app.task(bind=True, max_retries=5, default_retry_delay=0.1)
def flaky(self, key):
    tries = server.incr(key)
    if tries < 3:
        raise self.retry(exc=ValueError("not yet"))
    return tries


@app.task
def fails():
    raise KeyError("lost")


@app.task(acks_late=True, ignore_result=True)
def hangs_once(key):
    if server.incr(key) == 1:
        time.sleep(600)


def worker(**variables):
    """A worker in a session of its own, so that it can be killed whole."""
    args = [sys.executable, "-m", "celery", "-A", "celery_program", "worker", "--concurrency=2", "--loglevel=WARNING",
            "--without-gossip", "--without-mingle"]
    return subprocess.Popen(args, env={**os.environ, "C_FORCE_ROOT": "1", **variables}, start_new_session=True)


def tasks():
    assert [add.delay(n, n).get(timeout=30) for n in range(5)] == [0, 2, 4, 6, 8]
    assert group(add.s(n, 1) for n in range(10))().get(timeout=30) == list(range(1, 11))
    assert chord((add.s(n, n) for n in range(20)), total.s())().get(timeout=30) == 380
    assert (add.s(1, 2) | add.s(3) | add.s(4))().get(timeout=30) == 10
    began = time.time()
    assert stamp.apply_async(countdown=1).get(timeout=30) >= began + 1
    assert flaky.delay("tries").get(timeout=30) == 3
    failed = fails.delay()
    until("a failed task", lambda: failed.ready())
    assert failed.status == "FAILURE" and isinstance(failed.result, KeyError), failed.result


def redelivery(first):
    hangs_once.delay("hangs")
    until("the task starts", lambda: server.get("hangs") == b"1")
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert server.hlen("unacked") == 1
    time.sleep(1.1)  # past the visibility timeout of the next worker
    second = worker(VISIBILITY="1")
    try:
        until("the task is done again", lambda: server.get("hangs") == b"2")
        until("it is acknowledged", lambda: server.hlen("unacked") == 0)
    finally:
        second.terminate()
        second.wait(timeout=30)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the worker ends, too
    first = worker()
    try:
        tasks()
        redelivery(first)
    finally:
        if first.poll() is None:
            os.killpg(first.pid, signal.SIGKILL)
    assert not server.keys("*unacked_mutex*"), "the lock of the restorer is never freed"
    print("passed")
