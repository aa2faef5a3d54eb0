// node-redis with its typed API, in both versions of the protocol.
import test from 'node:test';
import assert from 'node:assert/strict';
import { createClient, WatchError } from 'redis';
import { until } from './until.mjs';

const url = `redis://${process.env.FIRN_ADDR}`;

async function connect(t, RESP) {
  const client = createClient({ url, RESP, socket: { reconnectStrategy: false } });
  client.on('error', (err) => assert.fail(err));
  await client.connect();
  t.after(() => client.close());
  return client;
}

for (const RESP of [2, 3]) {
  test(`every type, RESP${RESP}`, async (t) => {
    const c = await connect(t, RESP);
    await c.flushAll();
    assert.equal(await c.set('k', 'v', { expiration: { type: 'EX', value: 100 }, condition: 'NX' }), 'OK');
    assert.equal(await c.get('k'), 'v');
    assert.equal(await c.hSet('h', { a: '1', b: '2' }), 2);
    assert.deepEqual({ ...(await c.hGetAll('h')) }, { a: '1', b: '2' });
    assert.equal(await c.rPush('l', ['a', 'b', 'c']), 3);
    assert.deepEqual(await c.lRange('l', 0, -1), ['a', 'b', 'c']);
    assert.equal(await c.sAdd('s', ['x', 'y']), 2);
    assert.deepEqual([...(await c.sMembers('s'))].sort(), ['x', 'y']);
    assert.equal(await c.zAdd('z', [{ score: 1.5, value: 'one' }, { score: 2, value: 'two' }]), 2);
    assert.deepEqual((await c.zRangeWithScores('z', 0, -1)).map(({ value, score }) => [value, score]), [['one', 1.5], ['two', 2]]);
    assert.deepEqual(await c.zPopMin('z').then(({ value, score }) => [value, score]), ['one', 1.5]);
    assert.equal(await c.pfAdd('hll', ['a', 'b', 'c']), 1);
    assert.equal(await c.pfCount('hll'), 3);
    assert.equal(await c.setBit('bits', 7, 1), 0);
    assert.equal(await c.bitCount('bits'), 1);
    assert.equal(await c.type('z'), 'zset');
  });

  test(`streams and groups, RESP${RESP}`, async (t) => {
    const c = await connect(t, RESP);
    await c.flushAll();
    const id = await c.xAdd('events', '*', { kind: 'born' });
    await c.xGroupCreate('events', 'g', '0');
    const read = await c.xReadGroup('g', 'me', { key: 'events', id: '>' }, { COUNT: 5 });
    assert.ok(JSON.stringify(read).includes('born'));
    assert.equal((await c.xPending('events', 'g')).pending, 1);
    assert.equal(await c.xAck('events', 'g', id), 1);
    assert.equal((await c.xInfoGroups('events'))[0].pending, 0);
    assert.equal((await c.xRange('events', '-', '+')).length, 1);
  });

  test(`blocking, subscriptions and transactions, RESP${RESP}`, async (t) => {
    const c = await connect(t, RESP);
    await c.flushAll();
    const waiting = await connect(t, RESP);
    const popped = waiting.blPop('q', 10);
    await until(async () => (await c.info('clients')).includes('blocked_clients:1'));
    await c.rPush('q', 'job');
    assert.deepEqual({ ...(await popped) }, { key: 'q', element: 'job' });
    const sub = await connect(t, RESP);
    const got = [];
    await sub.subscribe('c', (message) => got.push(message));
    await sub.pSubscribe('p*', (message, channel) => got.push(`${channel}: ${message}`));
    await c.publish('c', 'one');
    await c.publish('pp', 'two');
    await until(async () => got.length === 2);
    assert.deepEqual(got, ['one', 'pp: two']);
    await sub.unsubscribe();
    await sub.pUnsubscribe();
    assert.deepEqual(await c.multi().set('a', '1').incr('a').exec(), ['OK', 2]);
    await waiting.watch('a');
    await c.set('a', 'changed');
    await assert.rejects(waiting.multi().get('a').exec(), WatchError);
    const keys = [];
    for await (const page of c.scanIterator({ COUNT: 10 })) keys.push(...page);
    assert.deepEqual(keys, ['a']);
  });
}
