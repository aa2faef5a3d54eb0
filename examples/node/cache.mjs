// A cache that is never stale, and that outlives its connection.
//
//   firn serve &
//   node cache.mjs &
//   redis-cli SET price 101
//
// node-redis keeps what it has read, and the server says what has changed. When
// the connection is lost node-redis would throw everything away. This cache
// keeps it, and says in SINCE from when it is: the server then names what has
// changed since, and only that is read again.
import { createClient, BasicClientSideCache } from 'redis';

class KeptCache extends BasicClientSideCache {
  token = null; // as of which all copies are good
  #away = false;

  trackingOn() { // node-redis sends this when it has connected
    const on = ['CLIENT', 'TRACKING', 'ON', 'BCAST'];
    return this.token === null ? on : [...on, 'SINCE', this.token];
  }

  onError() { this.#away = true; } // instead of clear()
  get(key) { return this.#away ? undefined : super.get(key); }

  keep(client) {
    client.on('ready', () => { this.#away = false; });
    setInterval(async () => {
      try {
        this.token = String((await client.sendCommand(['HELLO', '3'])).token);
      } catch { /* away: the token that we have is good */ }
    }, 1000).unref();
  }
}

const url = process.argv[2] ?? 'redis://127.0.0.1:6379';
const key = process.argv[3] ?? 'price';
const cache = new KeptCache();
const client = createClient({ url, RESP: 3, clientSideCache: cache, socket: { reconnectStrategy: 100 } });
cache.keep(client);
client.on('error', () => console.log('connecting again'));
await client.connect();

let shown;
for (;;) {
  const price = await client.get(key); // from the cache, unless it has changed
  if (price !== shown) {
    console.log(key, 'is', price);
    shown = price;
  }
  if (price === 'sold') break;
  await new Promise((resolve) => setTimeout(resolve, 10));
}
const { hitCount, missCount } = cache.stats();
console.log(`asked the server ${missCount} times, the cache ${hitCount} times`);
client.destroy();
