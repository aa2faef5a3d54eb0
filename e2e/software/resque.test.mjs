// node-resque: workers of one queue, a scheduler with a leader, and plugins
// that lock.
import test from 'node:test';
import assert from 'node:assert/strict';
import resque from 'node-resque';
import { until } from '../node/until.mjs';

const { MultiWorker, Plugins, Queue, Scheduler } = resque;
const [host, port] = process.env.SERVER.split(':');
const connection = { pkg: 'ioredis', host, port: Number(port), database: 0, namespace: 'resque' };

test('workers, delayed jobs, retries and locks', async (t) => {
  const done = [], tries = [];
  let inside = 0;
  const jobs = {
    add: { perform: async (a, b) => { done.push(a + b); } },
    alone: {
      plugins: [Plugins.JobLock], pluginOptions: { JobLock: { reEnqueue: true } },
      perform: async () => { assert.equal(++inside, 1); await new Promise(setImmediate); inside--; done.push('alone'); },
    },
    once: { plugins: [Plugins.QueueLock], perform: async () => { done.push('once'); } },
    flaky: {
      plugins: [Plugins.Retry], pluginOptions: { Retry: { retryLimit: 3, retryDelay: 100 } },
      perform: async () => { tries.push(Date.now()); if (tries.length < 3) throw new Error('not yet'); },
    },
  };
  const queue = new Queue({ connection }, jobs);
  queue.on('error', (err) => assert.fail(err));
  await queue.connect();
  t.after(() => queue.end());
  const schedulers = [1, 2].map((n) => new Scheduler({ connection, timeout: 100, name: `scheduler${n}` }));
  for (const scheduler of schedulers) {
    await scheduler.connect();
    await scheduler.start();
    t.after(() => scheduler.end());
  }
  for (let n = 0; n < 20; n++) await queue.enqueue('q', 'add', [n, 0]);
  await queue.enqueue('q', 'once', ['same']);
  assert.equal(await queue.enqueue('q', 'once', ['same']), false);
  for (let n = 0; n < 3; n++) await queue.enqueue('q', 'alone', ['same']);
  await queue.enqueue('q', 'flaky', []);
  const began = Date.now();
  await queue.enqueueIn(2000, 'q', 'add', [1000, 0]); // it counts in whole seconds
  const workers = new MultiWorker({ connection, queues: ['q'], minTaskProcessors: 2, maxTaskProcessors: 4, checkTimeout: 100, timeout: 50 }, jobs);
  workers.on('error', (err) => assert.fail(err));
  await workers.start();
  t.after(() => workers.end());
  await until(async () => done.includes(1000) && done.length === 20 + 1 + 3 + 1 && tries.length === 3);
  assert.ok(Date.now() - began >= 1000);
  assert.deepEqual(done.filter((x) => typeof x === 'number').sort((a, b) => a - b), [...Array(20).keys(), 1000]);
  assert.equal(done.filter((x) => x === 'once').length, 1);
  assert.ok([schedulers[0].leader, schedulers[1].leader].filter(Boolean).length === 1);
  await until(async () => (await queue.length('q')) === 0 && (await queue.failedCount()) === 0);
});
