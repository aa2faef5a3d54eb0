"""RQ: a worker that does jobs, fails, tries again and waits for a time."""
import os
import subprocess
import sys
import time
from datetime import timedelta

import redis
from rq import Queue, Retry
from rq.job import Job

from until import until

host, port = os.environ["SERVER"].split(":")
server = redis.Redis(host, int(port))


def add(a, b):
    return a + b


def flaky(key):
    tries = server.incr(key)
    if tries < 3:
        raise ValueError("not yet")
    return tries


def stamp():
    return time.time()


if __name__ == "__main__":
    from rq_program import add, flaky, stamp  # as the worker knows them

    queue = Queue(connection=server)
    first = queue.enqueue(add, 1, 2)
    then = queue.enqueue(add, 3, 4, depends_on=first)
    retried = queue.enqueue(flaky, "tries", retry=Retry(max=3))
    failing = queue.enqueue(flaky, "never", retry=Retry(max=1))
    began = time.time()
    late = queue.enqueue_in(timedelta(seconds=2), stamp)
    many = queue.enqueue_many([Queue.prepare_data(add, (n, n)) for n in range(5)])
    code = ("import rq.scheduler, rq.worker; rq.scheduler.SCHEDULER_INTERVAL = 1\n"
            "from rq import Queue, Worker; from redis import Redis\n"
            "c = Redis(%r, %d); w = Worker([Queue(connection=c)], connection=c); w.work(with_scheduler=True)" % (host, int(port)))
    worker = subprocess.Popen([sys.executable, "-c", code])
    try:
        for job, result in [(first, 3), (then, 7), (retried, 3)] + [(job, 2 * n) for n, job in enumerate(many)]:
            until("a job", lambda: job.is_finished)
            assert job.result == result, (job.result, result)
        until("a job fails", lambda: failing.is_failed)
        assert server.get("never") == b"2"
        assert "not yet" in Job.fetch(failing.id, connection=server).exc_info
        assert failing.id in queue.failed_job_registry
        until("a scheduled job", lambda: late.is_finished)
        assert late.result >= began + 1, (late.result, began)  # RQ counts in whole seconds
    finally:
        worker.terminate()
        worker.wait(timeout=30)
    print("passed")
