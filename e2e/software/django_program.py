"""django-redis: Django's cache with locks, and counters that are scripts."""
import os
import threading

import django
from django.conf import settings

settings.configure(CACHES={"default": {
    "BACKEND": "django_redis.cache.RedisCache",
    "LOCATION": "redis://" + os.environ["SERVER"] + "/0",
    "KEY_PREFIX": "app",
}})
django.setup()

from django.core.cache import cache  # noqa: E402  (it needs the settings)


def values():
    cache.set("a", {"b": [1, 2]}, timeout=60)
    assert cache.get("a") == {"b": [1, 2]} and cache.ttl("a") > 0
    assert cache.add("a", 1) is False and cache.has_key("a")
    cache.set_many({"m1": 1, "m2": 2})
    assert cache.get_many(["m1", "m2", "m3"]) == {"m1": 1, "m2": 2}
    assert cache.touch("m1", 100) and cache.persist("m1") and cache.ttl("m1") is None
    cache.set("n", 1)
    assert cache.incr("n", 5) == 6 and cache.decr("n") == 5
    try:
        cache.incr("absent")
        raise AssertionError("a counter that is not there counts")
    except ValueError:
        pass
    assert sorted(cache.keys("m*")) == ["m1", "m2"]
    assert cache.delete_pattern("m*") == 2


def locks():
    held = cache.lock("lock", timeout=30)
    assert held.acquire(blocking=False)
    assert not cache.lock("lock", timeout=30).acquire(blocking=False)
    held.release()
    count = []

    def work():
        for _ in range(5):
            with cache.lock("busy", timeout=30, sleep=0.005):
                before = cache.get("count", 0)
                cache.set("count", before + 1)
                count.append(before)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == list(range(20)), count


values()
locks()
print("passed")
