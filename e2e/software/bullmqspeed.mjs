// How long BullMQ takes to add JOBS jobs to QUEUE and to do them with one worker,
// which does nothing in them. It prints the two times in milliseconds.
import { Queue, Worker } from 'bullmq';

const [host, port] = process.env.SERVER.split(':');
const connection = { host, port: Number(port), maxRetriesPerRequest: null };
const jobs = Number(process.env.JOBS);
const batch = 1000; // jobs of one addBulk

const queue = new Queue(process.env.QUEUE, { connection });
await queue.waitUntilReady();
const began = performance.now();
for (let n = 0; n < jobs; n += batch) {
  await queue.addBulk(Array.from({ length: Math.min(batch, jobs - n) }, (_, i) => ({ name: 'x', data: { n: n + i } })));
}
const added = performance.now();
let left = jobs, sum = 0;
const worker = new Worker(process.env.QUEUE, async (job) => { sum += job.data.n; }, { connection });
await new Promise((resolve) => worker.on('completed', () => { if (--left === 0) resolve(); }));
const done = performance.now();
if (sum !== jobs * (jobs - 1) / 2 || (await queue.getCompletedCount()) !== jobs) throw new Error('jobs were lost or done twice');
await worker.close();
await queue.close();
console.log(Math.round(added - began), Math.round(done - added));
