import t from 'tap'
import fc from 'fast-check'
import { OptionError, parseSize } from '../src/index.js'

t.test('numbers are bytes, texts have units of 1024', async (t) => {
  const cases: readonly [number | string, number][] = [
    [1, 1],
    [65_536, 65_536],
    ['512', 512],
    ['512B', 512],
    ['64KB', 65_536],
    ['64 kb', 65_536],
    [' 1MB ', 1024 ** 2],
    ['1.5MB', 1.5 * 1024 ** 2],
    ['0.5KB', 512],
    ['2GB', 2 * 1024 ** 3],
  ]
  for (const [size, bytes] of cases) t.equal(parseSize('diskSize', size), bytes, JSON.stringify(size))
})

t.test('anything else is refused', async (t) => {
  const cases: readonly unknown[] = [
    0,
    -1,
    1.5,
    Number.NaN,
    Infinity,
    2 ** 60,
    '',
    'KB',
    '-1KB',
    '1 2KB',
    '1TB',
    '1KiB',
    '1e3',
    '0MB',
    '0.3B',
    '1,5MB',
    null,
    {},
  ]
  for (const size of cases) {
    const sentence = `diskSize is ${JSON.stringify(size)}; give bytes or a size such as 64KB, 128MB or 1GB.`
    t.throws(() => parseSize('diskSize', size as string), new OptionError(sentence), String(size))
  }
})

t.test('a text means the same as its number', async (t) => {
  const units = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      fc.constantFrom(...Object.entries(units)),
      (count, [unit, factor]) => {
        return parseSize('x', `${count}${unit}`) === parseSize('x', count * factor)
      },
    ),
  )
  t.pass()
})
