// Bull, which BullMQ succeeds: every move of a job is a script.
import test from 'node:test';
import assert from 'node:assert/strict';
import Queue from 'bull';
import { until } from '../node/until.mjs';

const redis = `redis://${process.env.SERVER}`;

function open(t, name, options = {}) {
  const queue = new Queue(name, redis, options);
  queue.on('error', (err) => assert.fail(err));
  t.after(() => queue.close(true));
  return queue;
}

test('jobs come by priority and return their results', async (t) => {
  const queue = open(t, 'priorities');
  for (const [data, priority] of [['low', 9], ['high', 1], ['middle', 5]]) await queue.add({ data }, { priority });
  const got = [];
  queue.process(async (job) => { got.push(job.data.data); return job.data.data.length; });
  await until(async () => (await queue.getCompletedCount()) === 3);
  assert.deepEqual(got, ['high', 'middle', 'low']);
  assert.deepEqual((await queue.getCompleted()).map((job) => job.returnvalue).sort(), [3, 4, 6]);
});

test('a delayed job waits, a retried one backs off', async (t) => {
  const queue = open(t, 'delayed');
  const began = Date.now(), times = [];
  let tries = 0;
  queue.process('late', async () => { times.push(Date.now() - began); });
  queue.process('flaky', async () => { if (++tries < 3) throw new Error('not yet'); return tries; });
  await queue.add('late', {}, { delay: 700 });
  assert.equal(await queue.getDelayedCount(), 1);
  const flaky = await queue.add('flaky', {}, { attempts: 3, backoff: 100 });
  assert.equal(await flaky.finished(), 3);
  await until(async () => times.length === 1);
  assert.ok(times[0] >= 700, `${times}`);
});

test('a job is added once, repeats, and can be removed', async (t) => {
  const queue = open(t, 'repeats');
  await queue.pause();
  await queue.add({}, { jobId: 'one' });
  await queue.add({}, { jobId: 'one' });
  assert.equal(await queue.getPausedCount(), 1);
  await (await queue.getJob('one')).remove();
  assert.equal(await queue.count(), 0);
  await queue.resume();
  let runs = 0;
  queue.process('tick', async () => { runs++; });
  await queue.add('tick', {}, { repeat: { every: 200 } });
  await until(async () => runs >= 3);
  await queue.removeRepeatable('tick', { every: 200 });
  assert.deepEqual(await queue.getRepeatableJobs(), []);
});

test('a limiter holds jobs back', async (t) => {
  const queue = open(t, 'limited', { limiter: { max: 2, duration: 500 } });
  const times = [];
  for (let n = 0; n < 6; n++) await queue.add({ n });
  queue.process(async () => { times.push(Date.now()); });
  await until(async () => times.length === 6);
  assert.ok(times[5] - times[0] >= 500, `${times.map((at) => at - times[0])}`);
});

test('a stalled job is done by another worker', async (t) => {
  const settings = { lockDuration: 400, lockRenewTime: 100_000, stalledInterval: 300 };
  const dead = open(t, 'stalled', { settings });
  let runs = 0;
  dead.process(() => { runs++; return new Promise(() => {}); });
  await dead.add({});
  await until(async () => runs === 1);
  const queue = open(t, 'stalled', { settings: { ...settings, lockDuration: 30_000 } });
  queue.process(async () => { runs++; });
  await until(async () => (await queue.getCompletedCount()) === 1);
  assert.equal(runs, 2);
});
