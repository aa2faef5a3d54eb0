# until asks until the answer is yes, for thirty seconds at least.
import time


def until(what, holds):
    for _ in range(1500):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError(what + ": it did not come to pass")
