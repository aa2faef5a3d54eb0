"""redis-py's Lock, Script and pipelines of scripts."""
import os
import threading

import redis
from redis.exceptions import LockError, LockNotOwnedError, NoScriptError, ResponseError

from until import until

host, port = os.environ["SERVER"].split(":")
server = redis.Redis(host, int(port))


def lock():
    held = server.lock("lock", timeout=30)
    assert held.acquire() and held.locked() and held.owned()
    assert not server.lock("lock", timeout=30).acquire(blocking=False)
    assert not server.lock("lock", timeout=30, blocking_timeout=0.2).acquire()
    held.extend(60)
    assert server.pttl("lock") > 60_000
    held.extend(5, replace_ttl=True)
    assert server.pttl("lock") <= 5_000
    held.reacquire()
    assert server.pttl("lock") > 5_000
    held.release()
    assert not server.exists("lock")
    for late in (held.release, lambda: held.extend(1)):
        try:
            late()
            raise AssertionError("a lock that was freed is freed or extended")
        except LockError:
            pass


def expiry():
    short = server.lock("short", timeout=0.1)
    short.acquire()
    until("the lock expires", lambda: not server.exists("short"))
    other = server.lock("short", timeout=30)
    assert other.acquire(blocking=False)
    for late in (lambda: short.extend(1), short.reacquire, short.release):
        try:
            late()
            raise AssertionError("a lock of somebody else is freed or extended")
        except LockNotOwnedError:
            pass
    assert other.owned()
    other.release()


def contention():
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        mine = redis.Redis(host, int(port))
        for _ in range(5):
            with mine.lock("busy", timeout=30, sleep=0.005):
                inside += 1
                most = max(most, inside)
                mine.set("n", int(mine.get("n") or 0) + 1)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1 and server.get("n") == b"40", (most, server.get("n"))


def scripts():
    script = server.register_script("return {KEYS[1], ARGV[1], redis.call('incrby', KEYS[1], ARGV[1])}")
    assert script(keys=["s"], args=[5]) == [b"s", b"5", 5]
    server.script_flush()
    assert script(keys=["s"], args=[5]) == [b"s", b"5", 10]  # it loads it again
    pipe = server.pipeline()
    for n in range(3):
        script(keys=["p"], args=[n], client=pipe)
    assert [reply[2] for reply in pipe.execute()] == [0, 1, 3]
    try:
        server.evalsha("0" * 40, 0)
        raise AssertionError("a script that nobody loaded runs")
    except NoScriptError:
        pass
    try:
        server.eval("return redis.call('incr', KEYS[1], 'x')", 1, "s")
        raise AssertionError("a command with too many arguments runs")
    except ResponseError as err:
        assert "wrong number of args" in str(err).lower(), err


for part in (lock, expiry, contention, scripts):
    part()
print("passed")
