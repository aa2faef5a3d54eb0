// rate-limit-redis, the store of express-rate-limit, under real requests.
import test from 'node:test';
import assert from 'node:assert/strict';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { RedisStore } from 'rate-limit-redis';
import { createClient } from 'redis';
import { until } from '../node/until.mjs';

test('requests over the limit are refused until the window ends', async (t) => {
  const client = await createClient({ url: `redis://${process.env.SERVER}` }).connect();
  t.after(() => client.close());
  const store = new RedisStore({ sendCommand: (...args) => client.sendCommand(args) });
  const app = express();
  app.use(rateLimit({ windowMs: 4000, limit: 5, store, standardHeaders: 'draft-6', legacyHeaders: false }));
  app.get('/', (_, response) => response.send('ok'));
  const server = app.listen(0, '127.0.0.1');
  t.after(() => { server.closeAllConnections(); server.close(); });
  await until(async () => server.listening);
  const ask = () => fetch(`http://127.0.0.1:${server.address().port}/`);
  const replies = await Promise.all(Array.from({ length: 8 }, ask));
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 429, 429, 429]);
  const left = replies.map((reply) => Number(reply.headers.get('ratelimit-remaining'))).sort((a, b) => a - b);
  assert.deepEqual(left, [0, 0, 0, 0, 1, 2, 3, 4]);
  await until(async () => (await ask()).status === 200);
});
