"""channels_redis: Django Channels' layers, whose group_send is a script."""
import asyncio
import os

from channels.exceptions import ChannelFull
from channels_redis.core import RedisChannelLayer
from channels_redis.pubsub import RedisPubSubChannelLayer

url = "redis://" + os.environ["SERVER"] + "/0"


async def receive(layer, channel):
    return await asyncio.wait_for(layer.receive(channel), 20)


async def groups(layer):
    channels = [await layer.new_channel() for _ in range(3)]
    for channel in channels:
        await layer.group_add("room", channel)
    await layer.group_send("room", {"type": "chat.message", "text": "hello"})
    for channel in channels:
        assert await receive(layer, channel) == {"type": "chat.message", "text": "hello"}
    await layer.group_discard("room", channels[0])
    await layer.group_send("room", {"type": "chat.message", "text": "again"})
    await layer.send(channels[0], {"type": "direct"})
    assert await receive(layer, channels[0]) == {"type": "direct"}
    for channel in channels[1:]:
        assert (await receive(layer, channel))["text"] == "again"


async def capacity():
    layer = RedisChannelLayer(hosts=[url], capacity=3, prefix="small")
    for n in range(3):
        await layer.send("worker", {"type": "n", "n": n})
    try:
        await layer.send("worker", {"type": "n", "n": 3})
        raise AssertionError("a channel takes more than its capacity")
    except ChannelFull:
        pass
    await layer.group_add("many", "worker")
    await layer.group_send("many", {"type": "lost"})  # the script leaves out who is full
    for n in range(3):
        assert (await receive(layer, "worker"))["n"] == n
    await layer.group_send("many", {"type": "found"})
    assert await receive(layer, "worker") == {"type": "found"}


async def main():
    await groups(RedisChannelLayer(hosts=[url]))
    await groups(RedisPubSubChannelLayer(hosts=[url], prefix="pubsub"))
    await capacity()


asyncio.run(main())
print("passed")
