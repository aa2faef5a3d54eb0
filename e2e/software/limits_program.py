"""limits, which Flask-Limiter stands on: windows that are counted by scripts."""
import os
import threading

from limits import parse
from limits.storage import storage_from_string
from limits.strategies import FixedWindowElasticExpiryRateLimiter, FixedWindowRateLimiter, MovingWindowRateLimiter

from until import until

storage = storage_from_string("redis://" + os.environ["SERVER"])


def counts(strategy):
    limiter, limit, name = strategy(storage), parse("10/hour"), strategy.__name__
    hits = []
    threads = [threading.Thread(target=lambda: hits.append(limiter.hit(limit, name, "user"))) for _ in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hits.count(True) == 10, (name, hits)
    assert not limiter.test(limit, name, "user") and limiter.test(limit, name, "other")
    reset, left = limiter.get_window_stats(limit, name, "user")
    assert left == 0 and reset > 0, (name, reset, left)
    assert limiter.hit(limit, name, "other", cost=3)
    assert limiter.get_window_stats(limit, name, "other")[1] == 7
    limiter.clear(limit, name, "user")
    assert limiter.hit(limit, name, "user")


def ends(strategy):
    limiter, limit, name = strategy(storage), parse("1/second"), strategy.__name__
    assert limiter.hit(limit, name, "short")
    until("the window ends", lambda: limiter.test(limit, name, "short"))


for strategy in (FixedWindowRateLimiter, FixedWindowElasticExpiryRateLimiter, MovingWindowRateLimiter):
    counts(strategy)
    ends(strategy)
print("passed")
