import t from 'tap'
import { OptionError, parseDuration, parseSize } from '../src/index.js'
import { formatRate, parseRate } from '../src/quantity-options.js'

t.test('a number is in the smallest unit, a text has a unit', async (t) => {
  t.equal(parseSize('diskSize', 65_536), 65_536)
  t.equal(parseSize('diskSize', ' 64 kb '), 65_536)
  t.equal(parseDuration('for', 1500), 1500)
  t.equal(parseDuration('for', '-2h'), -7_200_000)
  t.equal(parseRate('to', 1000), 1000)
  t.equal(parseRate('to', '10MB/s'), 10 * 1024 ** 2)
  t.equal(formatRate(10 * 1024 ** 2), '10MB/s')
})

t.test('the error of a wrong size names the option and the value', async (t) => {
  for (const size of [0, -1, 1.5, Number.NaN, Infinity, 2 ** 60, '', 'KB', '1TB', '0MB', '0.3B', null, {}]) {
    const sentence = `diskSize is ${JSON.stringify(size)}; give bytes or a size such as 64KB, 128MB or 1GB.`
    t.throws(() => parseSize('diskSize', size as string), new OptionError(sentence), String(size))
  }
})

t.test('the error of a wrong duration names the option and the value', async (t) => {
  for (const [duration, shown] of [
    [Number.NaN, 'NaN'],
    [Infinity, 'Infinity'],
    ['soon', '"soon"'],
    ['5', '"5"'],
    [null, 'null'],
  ] as const) {
    const sentence = `for is ${shown}; give milliseconds or a time such as 500ms, 5s, 10m, 2h or 1d.`
    t.throws(() => parseDuration('for', duration as string), new OptionError(sentence), shown)
  }
})

t.test('the error of a wrong rate names the option and the value', async (t) => {
  for (const rate of [0, '10MB', '0MB/s', '/s', 'fast']) {
    const sentence = `to is ${JSON.stringify(rate)}; give bytes a second or a rate such as 64KB/s or 10MB/s.`
    t.throws(() => parseRate('to', rate), new OptionError(sentence), String(rate))
  }
})
