// ioredis over TLS, with a certificate of its own.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

const [host, port] = process.env.FIRN_ADDR.split(':');
const ca = readFileSync(process.env.FIRN_CA);
const cert = readFileSync(process.env.FIRN_CERT);
const key = readFileSync(process.env.FIRN_KEY);
const connect = (tls) => new Redis({ host, port: Number(port), retryStrategy: null, maxRetriesPerRequest: 0, tls: { ca, servername: 'localhost', ...tls } });

test('commands, pipelines and large values', async (t) => {
  const r = connect({ cert, key });
  t.after(() => r.quit());
  const large = 'x'.repeat(1 << 20);
  const pipeline = r.pipeline().set('large', large);
  for (let i = 0; i < 500; i++) pipeline.incr('n');
  const replies = await pipeline.exec();
  assert.deepEqual(replies.at(-1), [null, 500]);
  assert.equal(await r.get('large'), large);
});

test('without a certificate nobody is let in', async () => {
  const r = connect({});
  r.on('error', () => {});
  await assert.rejects(r.ping());
  r.disconnect();
});
