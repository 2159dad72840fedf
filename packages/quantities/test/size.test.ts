import fc from 'fast-check'
import t from 'tap'
import { formatSize, parseSize, readableSize, withReadableSizes } from '../src/index.js'

t.test('a size is a number with a unit of 1024', async (t) => {
  const cases: readonly [string, number][] = [
    ['512B', 512],
    ['64KB', 65_536],
    ['64 kb', 65_536],
    [' 1MB ', 1024 ** 2],
    ['1.5MB', 1.5 * 1024 ** 2],
    ['0.5KB', 512],
    ['2GB', 2 * 1024 ** 3],
    ['1TB', 1024 ** 4],
  ]
  for (const [text, bytes] of cases) t.equal(parseSize(text), bytes, text)
})

t.test('a text that is not whole bytes in a known unit is not a size', async (t) => {
  for (const text of ['', '512', '0', 'KB', '-1KB', '1 2KB', '1KiB', '1e3', '0.3B', '1,5MB', '99999999999GB'])
    t.equal(parseSize(text), null, text)
})

t.test('a formatted size is the shortest text that is exact', async (t) => {
  const cases: readonly [number, string][] = [
    [0, '0B'],
    [1000, '1000B'],
    [1536, '1536B'],
    [65_536, '64KB'],
    [10 * 1024 ** 2, '10MB'],
    [3 * 1024 ** 4, '3TB'],
  ]
  for (const [bytes, text] of cases) t.equal(formatSize(bytes), text)
})

t.test('every formatted size is parsed to the same number', async (t) => {
  fc.assert(fc.property(fc.maxSafeNat(), (bytes) => parseSize(formatSize(bytes)) === bytes))
  t.pass()
})

t.test('a readable size has three digits, and at least the whole number', async (t) => {
  const cases: readonly [number, string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KB'],
    [1_310_720, '1.25 MB'],
    [1023 * 1024, '1023 KB'],
    [308 * 1024 ** 3 + 1, '308 GB'],
    [2048 * 1024 ** 4, '2048 TB'],
  ]
  for (const [bytes, text] of cases) t.equal(readableSize(bytes), text)
  t.equal(withReadableSizes('a has 2048 bytes, b 0 bytes, and 7 chunks'), 'a has 2 KB, b 0 B, and 7 chunks')
})
