import assert from 'node:assert/strict';

// until asks until the answer is yes, for twenty seconds at least.
export async function until(holds) {
  for (let i = 0; i < 2000; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('it did not come to pass');
}
