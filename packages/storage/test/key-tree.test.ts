import fc from 'fast-check'
import t from 'tap'
import { check } from '@shardlab/bson/testing'
import { sortedRun } from '../src/tree/sort-run.js'
import { KeyTree } from '../src/tree/key-tree.js'

const keyOf = (prefix: string, number: number): string =>
  `${prefix}${String.fromCharCode((number >> 8) & 255, number & 255, 0)}`

const keyAmong = (prefixes: readonly string[], number: number): string =>
  keyOf(prefixes[(number >> 7) % prefixes.length]!, number)

/** Many of these keys are prefixes of others, and each tree level has other common prefixes. */
const nestedKey = (number: number): string =>
  [...number.toString(3)].map((digit) => '\0a\xff'[Number(digit)]!.repeat(3)).join('')

const severalPrefixes = ['beginning alike', 'beginning', '', 'beginning alike, and longer']
const keyMakers = [
  ...[[''], ['a'], ['beginning alike'], severalPrefixes].map(
    (prefixes) => (number: number) => keyAmong(prefixes, number),
  ),
  nestedKey,
  (number: number) => keyOf(nestedKey(number >> 5), number),
]

type Model = Map<string, number>

function agrees(tree: KeyTree, model: Model, bounds: readonly (string | undefined)[]): boolean {
  const [from, to] = bounds
  const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
  const inRange = sorted.filter(([key]) => (from === undefined || key >= from) && (to === undefined || key < to))
  const read = (reverse: boolean): [string, number][] => {
    const found: [string, number][] = []
    const cursor = tree.scan(from, to, reverse)
    for (let value = cursor.next(); value >= 0; value = cursor.next()) found.push([cursor.key, value])
    return found
  }
  return (
    tree.size === model.size &&
    read(false).join() === inRange.join() &&
    read(true).join() === inRange.reverse().join() &&
    sorted.every(([key, value]) => tree.get(key) === value)
  )
}

t.test('a tree is a sorted map, and its clones are independent', async () => {
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('run' as const),
        count: fc.integer({ min: 0, max: 400 }),
        stride: fc.nat(97),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('add' as const), number: fc.nat(0xffff) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('delete' as const),
        part: fc.integer({ min: 1, max: 8 }),
        from: fc.nat(0xffff),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('clone' as const) }) },
  )
  const bound = fc.option(fc.nat(0xffff), { nil: undefined })
  check(
    fc.property(
      fc.constantFrom(...keyMakers),
      fc.array(fc.tuple(fc.nat(), step), { maxLength: 30 }),
      bound,
      bound,
      (makeKey, steps, low, high) => {
        const trees: { tree: KeyTree; model: Model }[] = [{ tree: new KeyTree(), model: new Map() }]
        let value = 0
        for (const [which, action] of steps) {
          const { tree, model } = trees[which % trees.length]!
          if (action.do === 'run') {
            const fresh: string[] = []
            for (let i = 0; i < action.count; i++) {
              const key = makeKey((which * 31 + i * action.stride) & 0xffff)
              if (!model.has(key)) {
                model.set(key, value + fresh.length)
                fresh.push(key)
              }
            }
            tree.addRun(
              sortedRun(
                fresh,
                fresh.map(() => value++),
              ),
            )
          } else if (action.do === 'add') {
            const key = makeKey(action.number)
            if (model.has(key)) continue
            model.set(key, value)
            tree.add(key, value++)
          } else if (action.do === 'delete') {
            const first = makeKey(action.from)
            for (const key of [...model.keys()]
              .filter((each) => each >= first)
              .filter((_, i) => i % action.part === 0)) {
              if (!tree.delete(key) || tree.delete(key)) return false
              model.delete(key)
            }
          } else if (trees.length < 4) trees.push({ tree: tree.clone(), model: new Map(model) })
        }
        const bounds = [low, high].map((number) => (number === undefined ? undefined : makeKey(number)))
        return trees.every(({ tree, model }) => agrees(tree, model, bounds))
      },
    ),
    150,
  )
})

t.test('runs are sorted whatever their common prefix', async () => {
  const key = fc.tuple(
    fc.constantFrom('', 'x', 'common', 'commonly'),
    fc.string({ unit: 'binary-ascii', maxLength: 9 }),
  )
  check(
    fc.property(fc.array(key, { maxLength: 300 }), (parts) => {
      const keys = parts.map(([first, rest]) => first + rest)
      const expected = keys
        .map((each, i) => [each, i] as const)
        .sort(([a, i], [b, j]) => (a < b ? -1 : a > b ? 1 : i - j))
      const sorted = sortedRun(
        keys,
        keys.map((_, i) => i),
      )
      return (
        sorted.keys.join('|') === expected.map(([each]) => each).join('|') &&
        sorted.values.join() === expected.map(([, i]) => i).join()
      )
    }),
    200,
  )
  // The keys differ only at their end, so too many are out of order after the first sort.
  const late = Array.from(
    { length: 3000 },
    (_, i) => `k${'-'.repeat(i % 2)}123456789${String((i * 7919) % 3000).padStart(5, '0')}`,
  )
  t.same(
    sortedRun(
      late,
      late.map((_, i) => i),
    ).keys,
    [...late].sort(),
  )
})

t.test('ascending inserts fill the leaves, and deletes merge them', async (t) => {
  const tree = new KeyTree()
  const keys = Array.from({ length: 20_000 }, (_, i) => keyOf('', i * 3))
  for (const [i, key] of keys.entries()) tree.add(key, i)
  t.ok(keys.slice(100).every((key) => tree.delete(key)))
  t.equal(tree.size, 100)
  const left = tree.scan(undefined, undefined, true)
  t.equal(left.next(), 99)
  for (const key of keys.slice(0, 100)) tree.delete(key)
  t.equal(tree.scan(undefined, undefined, false).next(), -1)
  tree.addRun({ keys: ['a', 'b'], values: [1, 2] })
  t.equal(tree.get('b'), 2)
})
