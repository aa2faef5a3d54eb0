// redlock: locks that only their owner frees.
import test from 'node:test';
import assert from 'node:assert/strict';
import IORedis from 'ioredis';
import Redlock from 'redlock';
import { until } from '../node/until.mjs';

const [host, port] = process.env.SERVER.split(':');

function locks(t, options) {
  const client = new IORedis({ host, port: Number(port) });
  t.after(() => client.disconnect());
  return [new Redlock([client], options), client];
}

test('of many one holds the lock at a time', async (t) => {
  const [redlock, client] = locks(t, { retryCount: -1, retryDelay: 10, retryJitter: 10 });
  let inside = 0;
  await Promise.all(Array.from({ length: 20 }, async () => {
    const lock = await redlock.lock('busy', 30_000);
    assert.equal(++inside, 1);
    const n = Number(await client.get('n'));
    await client.set('n', n + 1);
    inside--;
    await lock.unlock();
  }));
  assert.equal(await client.get('n'), '20');
  assert.equal(await client.exists('busy'), 0);
});

test('a lock is extended, refused to others, and expires', async (t) => {
  const [redlock, client] = locks(t, { retryCount: 0 });
  const lock = await redlock.lock(['a', 'b'], 30_000);
  await assert.rejects(redlock.lock('b', 1000), { name: 'LockError' });
  await lock.extend(60_000);
  assert.ok((await client.pttl('a')) > 30_000);
  await lock.unlock();
  await assert.rejects(lock.unlock(), { name: 'LockError' });
  const short = await redlock.lock('c', 100);
  await until(async () => (await client.exists('c')) === 0);
  const other = await redlock.lock('c', 30_000);
  await assert.rejects(short.unlock(), { name: 'LockError' });
  assert.equal(await client.exists('c'), 1);
  await other.unlock();
});
