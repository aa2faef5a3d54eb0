// bee-queue: a job queue whose delays, retries and stalled jobs are scripts.
import test from 'node:test';
import assert from 'node:assert/strict';
import Queue from 'bee-queue';
import { until } from '../node/until.mjs';

const [host, port] = process.env.SERVER.split(':');

// open is a queue that ends with the test.
function open(t, name, settings = {}) {
  const queue = new Queue(name, { redis: { host, port: Number(port) }, removeOnSuccess: false, ...settings });
  queue.on('error', (err) => assert.fail(err));
  t.after(() => queue.close(0).catch(() => {}));
  return queue;
}

test('a hundred jobs come back with their results', async (t) => {
  const queue = open(t, 'plain');
  queue.process(4, async (job) => job.data.n * 2);
  const sum = await new Promise((resolve) => {
    let left = 100, total = 0;
    const jobs = Array.from({ length: 100 }, (_, n) => queue.createJob({ n }));
    for (const job of jobs) job.on('succeeded', (result) => { total += result; if (--left === 0) resolve(total); });
    queue.saveAll(jobs).then((failed) => assert.equal(failed.size, 0));
  });
  assert.equal(sum, 9900);
  assert.equal((await queue.checkHealth()).succeeded, 100);
});

test('a delayed job waits, and jobs come in the order of their times', async (t) => {
  const queue = open(t, 'delayed', { activateDelayedJobs: true, nearTermWindow: 60_000, delayedDebounce: 50 });
  const now = Date.now(), got = [];
  await queue.createJob('late').delayUntil(now + 1200).save();
  await queue.createJob('soon').delayUntil(now + 600).save();
  assert.equal((await queue.checkHealth()).delayed, 2);
  queue.process(async (job) => { got.push([job.data, Date.now() - now]); });
  await until(async () => got.length === 2);
  assert.deepEqual(got.map(([data]) => data), ['soon', 'late']);
  assert.ok(got[0][1] >= 600 && got[1][1] >= 1200, JSON.stringify(got));
});

test('a job that fails is tried again, and then is failed', async (t) => {
  const queue = open(t, 'retries', { activateDelayedJobs: true });
  const tries = { recovers: 0, never: 0 };
  queue.process(async (job) => {
    tries[job.data]++;
    if (job.data === 'never' || tries.recovers < 3) throw new Error('not yet');
  });
  await queue.createJob('recovers').retries(5).save();
  await queue.createJob('never').retries(1).backoff('fixed', 100).save();
  await until(async () => { const h = await queue.checkHealth(); return h.succeeded === 1 && h.failed === 1; });
  assert.deepEqual(tries, { recovers: 3, never: 2 });
});

test('a job whose worker died is done by another', async (t) => {
  const dead = open(t, 'stalled', { stallInterval: 500 });
  let started = false;
  dead.process(() => { started = true; return new Promise(() => {}); });
  await dead.createJob('x').save();
  await until(async () => started);
  await dead.close(0).catch(() => {}); // it ends without a word on the job
  const queue = open(t, 'stalled', { stallInterval: 500 });
  let done = false;
  queue.process(async () => { done = true; });
  await until(async () => { await queue.checkStalledJobs(); return done; });
});
