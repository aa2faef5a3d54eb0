// rate-limiter-flexible over ioredis and over node-redis: points that are
// counted by a script, so that what many take at once adds up.
import test from 'node:test';
import assert from 'node:assert/strict';
import IORedis from 'ioredis';
import { createClient } from 'redis';
import { BurstyRateLimiter, RateLimiterRedis } from 'rate-limiter-flexible';
import { until } from '../node/until.mjs';

const [host, port] = process.env.SERVER.split(':');

const clients = {
  ioredis: async (t) => {
    const client = new IORedis({ host, port: Number(port) });
    t.after(() => client.disconnect());
    return { storeClient: client };
  },
  noderedis: async (t) => {
    const client = await createClient({ url: `redis://${host}:${port}` }).connect();
    t.after(() => client.close());
    return { storeClient: client, useRedisPackage: true };
  },
};

for (const [name, open] of Object.entries(clients)) {
  test(`counts are right over ${name}`, async (t) => {
    const limiter = new RateLimiterRedis({ ...(await open(t)), keyPrefix: name, points: 10, duration: 60, blockDuration: 120 });
    const results = await Promise.allSettled(Array.from({ length: 25 }, () => limiter.consume('user')));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 10);
    const left = results.filter(({ status }) => status === 'fulfilled').map(({ value }) => value.remainingPoints);
    assert.deepEqual(left.sort((a, b) => a - b), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const refused = results.find(({ status }) => status === 'rejected').reason;
    assert.ok(refused.msBeforeNext > 0 && refused.msBeforeNext <= 120_000, `${refused.msBeforeNext}`);
    assert.equal((await limiter.consume('other', 3)).remainingPoints, 7);
    assert.equal((await limiter.reward('other', 2)).remainingPoints, 9);
    assert.equal((await limiter.penalty('other', 5)).consumedPoints, 6);
    await limiter.delete('user');
    assert.equal((await limiter.consume('user')).remainingPoints, 9);
  });

  test(`a window ends over ${name}`, async (t) => {
    const limiter = new RateLimiterRedis({ ...(await open(t)), keyPrefix: `${name}:short`, points: 1, duration: 3 });
    const burst = new RateLimiterRedis({ ...(await open(t)), keyPrefix: `${name}:burst`, points: 2, duration: 60 });
    const bursty = new BurstyRateLimiter(limiter, burst);
    for (let n = 0; n < 3; n++) await bursty.consume('user');
    await assert.rejects(bursty.consume('user'), { remainingPoints: 0 });
    await until(async () => limiter.consume('user').then(() => true, () => false));
  });
}
