// node-redis's client-side cache, which keeps what it has when the connection
// is lost: with SINCE the server says what has changed meanwhile.
import test from 'node:test';
import assert from 'node:assert/strict';
import { createClient, BasicClientSideCache } from 'redis';
import { until } from './until.mjs';

const url = `redis://${process.env.FIRN_ADDR}`;

// KeptCache is for one client. All keys are tracked, so that what has changed is
// said before the server answers that it tracks.
class KeptCache extends BasicClientSideCache {
  token = null; // as of which all copies are good
  #away = false;

  trackingOn() {
    const on = ['CLIENT', 'TRACKING', 'ON', 'BCAST'];
    return this.token === null ? on : [...on, 'SINCE', this.token];
  }

  // keep is called with the client before it connects.
  keep(client) {
    client.on('ready', () => { this.#away = false; });
  }

  // advance takes a newer token, from time to time: the older it is, the more
  // has changed since.
  async advance(client) {
    const { token } = await client.sendCommand(['HELLO', '3']);
    this.token = String(token);
  }

  onError() { this.#away = true; } // and not clear()
  get(cacheKey) { return this.#away ? undefined : super.get(cacheKey); }
}

test('copies outlive their connection, and none is stale', async (t) => {
  const cache = new KeptCache();
  const reader = createClient({ url, RESP: 3, clientSideCache: cache, socket: { reconnectStrategy: 5 } });
  cache.keep(reader);
  reader.on('error', () => {}); // it is cut off again and again
  await reader.connect();
  const writer = await createClient({ url, RESP: 3 }).connect();
  t.after(() => { reader.destroy(); writer.destroy(); });
  await writer.flushAll();

  const keys = Array.from({ length: 40 }, (_, n) => `counter:${n}`);
  const written = new Map(keys.map((key) => [key, 0]));
  await writer.mSet(keys.flatMap((key) => [key, '0']));
  let writing = true;
  const writes = (async () => {
    while (writing) {
      const key = keys[Math.floor(Math.random() * Math.random() * keys.length)];
      written.set(key, await writer.incr(key));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();

  let outlived = 0;
  const ask = async (command) => { // until it is answered
    for (;;) {
      try { return await command(); } catch { /* cut */ }
    }
  };
  for (let cut = 0; cut < 20; cut++) {
    for (let reads = 0; reads < 100; reads++) {
      const floor = new Map(written);
      await ask(() => reader.ping());
      for (let n = 0; n < 5; n++) {
        const key = keys[Math.floor(Math.random() * keys.length)];
        const got = Number(await ask(() => reader.get(key)));
        assert.ok(got >= floor.get(key), `${key}: got ${got}, and ${floor.get(key)} had been written before`);
      }
      if (reads % 20 === 10) await ask(() => cache.advance(reader));
    }
    const id = await ask(() => reader.clientId());
    assert.equal(Number(await writer.sendCommand(['CLIENT', 'KILL', 'ID', String(id)])), 1);
    await until(async () => await ask(() => reader.clientId()) !== id);
    outlived += cache.size();
  }
  writing = false;
  await writes;
  const { hitCount } = cache.stats();
  t.diagnostic(`${hitCount} reads were served by copies, and ${outlived} copies outlived their connection`);
  assert.ok(hitCount > 1000 && outlived > 40, 'that proves nothing');
});
