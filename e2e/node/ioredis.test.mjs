// ioredis as its users use it: callbacks of every type, pipelines, blocking
// reads on a second connection, publish and subscribe, consumer groups.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { until } from './until.mjs';

const [host, port] = process.env.FIRN_ADDR.split(':');
const connect = (options = {}) => new Redis({ host, port: Number(port), retryStrategy: null, ...options });

async function withClient(t, options) {
  const client = connect(options);
  t.after(() => client.quit());
  await client.flushall();
  return client;
}

test('strings, counters and expiry', async (t) => {
  const r = await withClient(t);
  assert.equal(await r.set('greeting', 'hello', 'EX', 100), 'OK');
  assert.equal(await r.get('greeting'), 'hello');
  assert.ok((await r.ttl('greeting')) > 90);
  assert.equal(await r.incrby('n', 41), 41);
  assert.equal(await r.incr('n'), 42);
  const bytes = Buffer.from([0, 255, 13, 10]);
  await r.set('bytes', bytes);
  assert.deepEqual(await r.getBuffer('bytes'), bytes);
  assert.deepEqual(await r.mget('greeting', 'absent'), ['hello', null]);
  await assert.rejects(r.lpush('greeting', 'x'), /WRONGTYPE/);
});

test('hashes and fields that expire', async (t) => {
  const r = await withClient(t);
  assert.equal(await r.hset('h', { a: 1, b: 'two' }), 2);
  assert.deepEqual(await r.hgetall('h'), { a: '1', b: 'two' });
  assert.deepEqual(await r.call('HEXPIRE', 'h', 100, 'FIELDS', 2, 'a', 'absent'), [1, -2]);
  assert.equal(await r.hincrby('h', 'a', 9), 10);
});

test('lists, blocking and in order', async (t) => {
  const r = await withClient(t);
  assert.equal(await r.rpush('l', 'a', 'b', 'c'), 3);
  assert.deepEqual(await r.lrange('l', 0, -1), ['a', 'b', 'c']);
  assert.equal(await r.lmove('l', 'm', 'LEFT', 'RIGHT'), 'a');
  const first = await withoutFlush(t);
  const second = await withoutFlush(t);
  const one = first.blpop('queue', 10);
  await until(async () => (await r.info('clients')).includes('blocked_clients:1'));
  const two = second.blpop('queue', 10);
  await until(async () => (await r.info('clients')).includes('blocked_clients:2'));
  assert.equal(await r.rpush('queue', 'x', 'y'), 2);
  assert.deepEqual(await one, ['queue', 'x']);
  assert.deepEqual(await two, ['queue', 'y']);
  assert.equal(await first.blpop('queue', 0.05), null);
});

async function withoutFlush(t) {
  const client = connect();
  t.after(() => client.quit());
  await client.ping();
  return client;
}

test('sets and sorted sets', async (t) => {
  const r = await withClient(t);
  assert.equal(await r.sadd('s', 'a', 'b', 'c'), 3);
  assert.equal(await r.sadd('other', 'b', 'c', 'd'), 3);
  assert.deepEqual((await r.sinter('s', 'other')).sort(), ['b', 'c']);
  assert.equal(await r.zadd('z', 1, 'one', 2.5, 'two', '+inf', 'last'), 3);
  assert.deepEqual(await r.zrange('z', 0, -1, 'REV'), ['last', 'two', 'one']);
  assert.equal(Number(await r.zscore('z', 'two')), 2.5);
  assert.equal(await r.zrank('z', 'two'), 1);
  assert.equal(await r.geoadd('g', 13.361389, 38.115556, 'Palermo', 15.087269, 37.502669, 'Catania'), 2);
  assert.equal(Number(await r.geodist('g', 'Palermo', 'Catania', 'km')), 166.2742);
});

test('streams with a consumer group', async (t) => {
  const r = await withClient(t);
  const id = await r.xadd('orders', '*', 'item', 'snow');
  assert.match(id, /^\d+-\d+$/);
  assert.equal(await r.xgroup('CREATE', 'orders', 'workers', '0'), 'OK');
  const reply = await r.xreadgroup('GROUP', 'workers', 'w1', 'COUNT', 10, 'STREAMS', 'orders', '>');
  assert.ok(JSON.stringify(reply).includes('snow'));
  assert.equal((await r.xpending('orders', 'workers'))[0], 1);
  assert.equal(await r.xack('orders', 'workers', id), 1);
  const reader = await withoutFlush(t);
  const next = reader.xread('BLOCK', 10000, 'STREAMS', 'orders', '$');
  await until(async () => (await r.info('clients')).includes('blocked_clients:1'));
  await r.xadd('orders', '*', 'item', 'ice');
  assert.ok(JSON.stringify(await next).includes('ice'));
});

test('publish and subscribe', async (t) => {
  const r = await withClient(t);
  const sub = await withoutFlush(t);
  const got = [];
  sub.on('message', (channel, message) => got.push([channel, message]));
  sub.on('pmessage', (pattern, channel, message) => got.push([pattern, channel, message]));
  await sub.subscribe('news');
  await sub.psubscribe('w*');
  assert.equal(await r.publish('news', 'cold'), 1);
  assert.equal(await r.publish('weather', 'snow'), 1);
  await until(async () => got.length === 2);
  assert.deepEqual(got, [['news', 'cold'], ['w*', 'weather', 'snow']]);
  await sub.unsubscribe('news');
  await sub.punsubscribe('w*');
});

test('transactions, pipelines and scans', async (t) => {
  const r = await withClient(t);
  const replies = await r.multi().set('a', '1').incr('a').lpush('a', 'x').get('a').exec();
  assert.deepEqual(replies.map(([err, value]) => (err ? 'error' : value)), ['OK', 2, 'error', '2']);
  await r.watch('a');
  const other = await withoutFlush(t);
  await other.set('a', 'changed');
  assert.equal(await r.multi().get('a').exec(), null);
  const pipeline = r.pipeline();
  for (let i = 0; i < 1000; i++) pipeline.set(`key:${i}`, i);
  assert.equal((await pipeline.exec()).filter(([err, v]) => !err && v === 'OK').length, 1000);
  const seen = new Set();
  for await (const keys of r.scanStream({ match: 'key:*', count: 100 })) keys.forEach((k) => seen.add(k));
  assert.equal(seen.size, 1000);
});

test('another database, and the past', async (t) => {
  const r = await withClient(t, { db: 3 });
  await r.rpush('l', 'a', 'b');
  const then = await r.call('LASTTS');
  await r.del('l');
  assert.deepEqual(await r.call('AT', then, 'LRANGE', 'l', 0, -1), ['a', 'b']);
  assert.deepEqual(await r.lrange('l', 0, -1), []);
});
