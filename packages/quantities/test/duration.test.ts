import fc from 'fast-check'
import t from 'tap'
import { durationPattern, formatDuration, parseDuration, readableDuration } from '../src/index.js'

t.test('a duration is a number with a unit', async (t) => {
  const cases: readonly [string, number][] = [
    ['500ms', 500],
    ['5s', 5000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5s', 1500],
    ['-2h', -7_200_000],
    [' 90s ', 90_000],
    ['0s', 0],
  ]
  for (const [text, ms] of cases) t.equal(parseDuration(text), ms, text)
})

t.test('a text without a number, without a unit or with another unit is not a duration', async (t) => {
  for (const text of ['', '5', 's', '5 s', '5S', '1w', '1h30m', '1e3ms', '.5s', '5.s', '--5s', '1,5s'])
    t.equal(parseDuration(text), null, text)
})

t.test('a formatted duration is the shortest text that is exact', async (t) => {
  const cases: readonly [number, string][] = [
    [0, '0ms'],
    [1500, '1500ms'],
    [90_000, '90s'],
    [60_000, '1m'],
    [7_200_000, '2h'],
    [-86_400_000, '-1d'],
    [0.5, '0.5ms'],
  ]
  for (const [ms, text] of cases) t.equal(formatDuration(ms), text)
})

t.test('every formatted duration is parsed to the same number, and matches the pattern', async (t) => {
  const pattern = new RegExp(`^${durationPattern}$`)
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
      const text = formatDuration(ms)
      return parseDuration(text) === ms && pattern.test(text)
    }),
  )
  t.pass()
})

t.test('a duration for people has at most two units', async (t) => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [45_400, '45s'],
    [750_000, '12m 30s'],
    [7_500_000, '2h 05m'],
    [7_200_000, '2h'],
    [3 * 86_400_000 + 4 * 3_600_000, '3d 4h'],
  ]
  for (const [ms, text] of cases) t.equal(readableDuration(ms), text)
})
