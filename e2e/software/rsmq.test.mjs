// rsmq: a message queue of three scripts.
import test from 'node:test';
import assert from 'node:assert/strict';
import RSMQ from 'rsmq';
import { until } from '../node/until.mjs';

const [host, port] = process.env.SERVER.split(':');

test('messages are hidden, come again, and are deleted', async (t) => {
  const queue = new RSMQ({ host, port: Number(port), ns: 'rsmq' });
  t.after(() => queue.quit());
  const qname = 'jobs';
  assert.equal(await queue.createQueueAsync({ qname, vt: 1 }), 1);
  for (const message of ['one', 'two', 'three']) await queue.sendMessageAsync({ qname, message });
  await queue.sendMessageAsync({ qname, message: 'late', delay: 3 });
  const one = await queue.receiveMessageAsync({ qname });
  assert.equal(one.message, 'one');
  assert.equal(await queue.deleteMessageAsync({ qname, id: one.id }), 1);
  assert.equal((await queue.popMessageAsync({ qname })).message, 'two');
  const three = await queue.receiveMessageAsync({ qname, vt: 60 });
  assert.equal(three.message, 'three');
  assert.equal(await queue.changeMessageVisibilityAsync({ qname, id: three.id, vt: 0 }), 1);
  const again = await queue.receiveMessageAsync({ qname, vt: 60 });
  assert.deepEqual([again.id, again.rc], [three.id, 2]);
  let late = {};
  await until(async () => { late = await queue.receiveMessageAsync({ qname }); return late.message; });
  assert.equal(late.message, 'late');
  await until(async () => (await queue.receiveMessageAsync({ qname })).id === late.id); // after its second
  const { msgs, totalsent, totalrecv } = await queue.getQueueAttributesAsync({ qname });
  assert.deepEqual([msgs, totalsent, totalrecv], [2, 4, 6]);
});
