import fc from 'fast-check'
import t from 'tap'
import { check } from '@shardlab/bson/testing'
import { BoundList } from '../src/routing/bound-list.js'

/** Bounds with a common prefix of any length, and others between them. */
const bound = fc.tuple(
  fc.constantFrom('', 'a', 'beginning alike', 'beginning alike, and longer'),
  fc.string({ unit: 'binary-ascii', maxLength: 9 }),
)
const bounds = fc.uniqueArray(
  bound.map((parts) => parts.join('')),
  { minLength: 1, maxLength: 40, size: 'max' },
)

function agrees(list: BoundList, expected: readonly string[], keys: readonly string[]): boolean {
  const position = (key: string): number => Math.max(0, expected.filter((each) => each <= key).length - 1)
  return (
    list.bounds.join('|') === expected.join('|') &&
    [...keys, ...expected].every((key) => list.position(key) === position(key))
  )
}

t.test('position finds the last bound at or below a key, whatever the prefixes and after any change', async () => {
  check(
    fc.property(bounds, bounds, fc.nat(), fc.nat(3), (all, keys, at, count) => {
      const sorted = all.toSorted((a, b) => (a < b ? -1 : 1))
      const list = BoundList.of(sorted)
      const start = at % sorted.length
      const [above, below] = [sorted[start - 1], sorted[start + count]]
      const fitting = keys.filter((key) => (above === undefined || key > above) && (below === undefined || key < below))
      const others = fitting.toSorted((a, b) => (a < b ? -1 : 1))
      const after = sorted.toSpliced(start, count, ...others)
      return (
        agrees(list, sorted, keys) &&
        (after.length === 0 || agrees(list.toSpliced(start, count, ...others), after, keys))
      )
    }),
    300,
  )
})
