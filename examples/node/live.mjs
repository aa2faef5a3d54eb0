// A program that is told a query's reply, and again whenever that has changed.
// It asks over HTTP, so it needs no library.
//
//   firn serve --http 127.0.0.1:8379 &
//   node live.mjs ZREVRANGE scores 0 2 &
//   redis-cli ZADD scores 7 ada 5 grace
import process from 'node:process';

const base = process.env.FIRN_HTTP ?? 'http://127.0.0.1:8379';
const [command, ...args] = process.argv.slice(2);
const query = new URLSearchParams([['command', command], ...args.map((arg) => ['arg', arg])]);

let token; // where we stand
for (;;) {
  try {
    await follow();
  } catch (error) {
    if (error.final) throw error;
    console.log('connecting again');
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
}

// follow reads events until the connection ends.
async function follow() {
  const headers = token ? { 'Last-Event-ID': token } : {};
  const response = await fetch(`${base}/v1/live?${query}`, { headers });
  if (response.status >= 400 && response.status < 500) {
    throw Object.assign(new Error((await response.json()).message), { final: true });
  }
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (text + chunk).split('\n\n');
    text = events.pop(); // it goes on in the next chunk
    for (const event of events) take(event);
  }
}

function take(event) {
  const fields = Object.fromEntries(event.split('\n').filter((line) => !line.startsWith(':')).map((line) => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  }));
  if (fields.id) token = fields.id;
  if (fields.event === 'live') console.log(JSON.stringify(JSON.parse(fields.data).reply));
}
