// BullMQ: every move of a job is a script of up to some hundred lines, with
// cmsgpack in and cjson out.
import test from 'node:test';
import assert from 'node:assert/strict';
import IORedis from 'ioredis';
import { FlowProducer, Queue, QueueEvents, RateLimitError, Worker } from 'bullmq';
import { until } from '../node/until.mjs';

const [host, port] = process.env.SERVER.split(':');
const connection = { host, port: Number(port), maxRetriesPerRequest: null };

// own ends something with the test and makes its errors the test's.
function own(t, thing) {
  thing.on('error', (err) => { if (!/Connection is closed/.test(err.message)) assert.fail(err); });
  t.after(() => thing.close(true));
  return thing;
}
const queueOf = (t, name, options = {}) => own(t, new Queue(name, { connection, ...options }));
const workerOf = (t, name, work, options = {}) => own(t, new Worker(name, work, { connection, ...options }));

test('jobs return their results, and events tell of them', async (t) => {
  const queue = queueOf(t, 'plain');
  const events = own(t, new QueueEvents('plain', { connection }));
  await events.waitUntilReady();
  const seen = [];
  events.on('completed', ({ returnvalue }) => seen.push(returnvalue));
  workerOf(t, 'plain', async (job) => { await job.updateProgress(50); return job.data.n * 2; }, { concurrency: 5 });
  const jobs = await queue.addBulk(Array.from({ length: 50 }, (_, n) => ({ name: 'double', data: { n } })));
  const results = await Promise.all(jobs.map((job) => job.waitUntilFinished(events)));
  assert.deepEqual(results, jobs.map((_, n) => n * 2));
  await until(async () => seen.length === 50);
  assert.deepEqual(await queue.getJobCounts('completed', 'wait', 'active', 'failed'), { completed: 50, wait: 0, active: 0, failed: 0 });
});

test('jobs come by priority, first in first out or last in first out', async (t) => {
  const queue = queueOf(t, 'priorities'), got = [];
  await queue.pause();
  for (const [name, options] of [['low', { priority: 9 }], ['high', { priority: 1 }], ['middle', { priority: 5 }], ['one', {}], ['two', {}], ['zero', { lifo: true }]]) {
    await queue.add(name, {}, options);
  }
  await queue.resume();
  workerOf(t, 'priorities', async (job) => { got.push(job.name); });
  await until(async () => got.length === 6);
  assert.deepEqual(got, ['zero', 'one', 'two', 'high', 'middle', 'low']);
});

test('a delayed job waits, and can be promoted', async (t) => {
  const queue = queueOf(t, 'delayed'), got = {}, began = Date.now();
  workerOf(t, 'delayed', async (job) => { got[job.name] = Date.now() - began; });
  await queue.add('late', {}, { delay: 700 });
  const never = await queue.add('never', {}, { delay: 3_600_000 });
  await never.promote();
  await until(async () => 'late' in got && 'never' in got);
  assert.ok(got.late >= 700 && got.never < got.late, JSON.stringify(got));
});

test('a job that fails is tried again, with a growing delay', async (t) => {
  const queue = queueOf(t, 'retries'), times = [];
  workerOf(t, 'retries', async (job) => {
    times.push(Date.now());
    if (job.name === 'never' || job.attemptsMade < 2) throw new Error('not yet');
  });
  await queue.add('recovers', {}, { attempts: 3, backoff: { type: 'exponential', delay: 100 } });
  await until(async () => (await queue.getCompletedCount()) === 1);
  assert.equal(times.length, 3);
  assert.ok(times[1] - times[0] >= 100 && times[2] - times[1] >= 200, `${times.map((at) => at - times[0])}`);
  const never = await queue.add('never', {}, { attempts: 1 });
  await until(async () => (await queue.getFailedCount()) === 1);
  assert.equal((await queue.getJob(never.id)).failedReason, 'not yet');
  await (await queue.getJob(never.id)).retry();
  await until(async () => times.length === 5 && (await queue.getFailedCount()) === 1);
});

test('a schedule repeats', async (t) => {
  const queue = queueOf(t, 'repeats'), times = [];
  workerOf(t, 'repeats', async () => { times.push(Date.now()); });
  await queue.upsertJobScheduler('tick', { every: 300 }, { name: 'tick', data: {} });
  await until(async () => times.length >= 3);
  assert.ok(times[2] - times[0] >= 200, `${times.map((at) => at - times[0])}`);
  assert.equal(await queue.removeJobScheduler('tick'), true);
  assert.equal((await queue.getJobSchedulers()).length, 0);
});

test('a flow: a parent waits for its children', async (t) => {
  const queue = queueOf(t, 'flow'), order = [];
  const flows = own(t, new FlowProducer({ connection }));
  const tree = await flows.add({
    name: 'sum', queueName: 'flow', data: {},
    children: [1, 2, 3].map((n) => ({ name: 'part', queueName: 'flow', data: { n } })),
  });
  let sum;
  workerOf(t, 'flow', async (job) => {
    order.push(job.name);
    if (job.name === 'part') return job.data.n;
    sum = Object.values(await job.getChildrenValues()).reduce((a, b) => a + b);
  });
  await until(async () => sum !== undefined && (await tree.job.getState()) === 'completed');
  assert.equal(sum, 6);
  assert.equal(order.at(-1), 'sum');
  assert.equal(await queue.getCompletedCount(), 4);
});

test('a limit holds jobs back', async (t) => {
  const queue = queueOf(t, 'limited'), times = [];
  await queue.addBulk(Array.from({ length: 6 }, () => ({ name: 'x', data: {} })));
  workerOf(t, 'limited', async () => { times.push(Date.now()); }, { limiter: { max: 2, duration: 500 } });
  await until(async () => times.length === 6);
  assert.ok(times[5] - times[0] >= 500, `${times.map((at) => at - times[0])}`);
});

test('a worker that limits itself gives the job back', async (t) => {
  const queue = queueOf(t, 'manual');
  let tries = 0;
  const worker = workerOf(t, 'manual', async () => {
    if (++tries > 1) return;
    await worker.rateLimit(300);
    throw new RateLimitError();
  }, { limiter: { max: 1, duration: 500 } });
  await queue.add('x', {});
  await until(async () => (await queue.getCompletedCount()) === 1);
  assert.equal(tries, 2);
});

test('a stalled job is done by another worker', async (t) => {
  const queue = queueOf(t, 'stalled');
  let runs = 0;
  workerOf(t, 'stalled', () => { runs++; return new Promise(() => {}); }, { lockDuration: 200, skipLockRenewal: true, skipStalledCheck: true });
  await queue.add('x', {});
  await until(async () => runs === 1);
  workerOf(t, 'stalled', async () => { runs++; }, { stalledInterval: 300 });
  await until(async () => (await queue.getCompletedCount()) === 1);
  assert.equal(runs, 2);
});

test('duplicates are told, jobs are cleaned and the queue obliterated', async (t) => {
  const queue = queueOf(t, 'clean');
  const first = await queue.add('x', {}, { deduplication: { id: 'same', ttl: 60_000 } });
  const second = await queue.add('x', {}, { deduplication: { id: 'same', ttl: 60_000 } });
  assert.equal(second.id, first.id);
  await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: 'x', data: { n }, opts: { delay: 60_000 } })));
  assert.equal((await queue.clean(0, 5, 'delayed')).length, 5);
  await queue.drain(true);
  await queue.obliterate({ force: true });
  const redis = new IORedis(connection);
  t.after(() => redis.disconnect());
  assert.deepEqual(await redis.keys('bull:clean:*'), []);
});
