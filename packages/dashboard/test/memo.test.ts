import t from 'tap'
import { memo } from '../src/page/memo.js'

t.test('a result is computed again when a key changes', async (t) => {
  const known = memo<number>()
  let calls = 0
  const get = (...keys: unknown[]): number => known(keys, () => ++calls)
  const object = {}
  t.same([get(1, object), get(1, object), get(1, {}), get(2, object), get(2, object)], [1, 1, 2, 3, 3])
})
