import t from 'tap'
import { OptionError, parseDuration, parseSize } from '../src/index.js'
import { formatRate, parseRate } from '../src/quantity-options.js'

t.test('a quantity is a text with a unit', async (t) => {
  t.equal(parseSize('diskSize', ' 64 kb '), 65_536)
  t.equal(parseDuration('for', '-2h'), -7_200_000)
  t.equal(parseRate('to', '10MB/s'), 10 * 1024 ** 2)
  t.equal(formatRate(10 * 1024 ** 2), '10MB/s')
})

t.test('the error of a wrong size names the option, the value and the rule', async (t) => {
  for (const [size, rule] of [
    [64, 'must have a unit, such as 64KB or 64MB'],
    ['512', 'must have a unit, such as 512KB or 512MB'],
    ['0MB', 'must be a size such as 64KB, 128MB or 1GB'],
    ['0.3B', 'must be a size such as 64KB, 128MB or 1GB'],
    [-1, 'must be a size such as 64KB, 128MB or 1GB'],
    [null, 'must be a size such as 64KB, 128MB or 1GB'],
  ] as const) {
    const sentence = `diskSize is ${JSON.stringify(size)}; it ${rule}.`
    t.throws(() => parseSize('diskSize', size as string), new OptionError(sentence), String(size))
  }
})

t.test('the error of a wrong duration names the option, the value and the rule', async (t) => {
  for (const [duration, rule] of [
    [5, 'must have a unit, such as 5ms or 5s'],
    ['5', 'must have a unit, such as 5ms or 5s'],
    ['5 seconds', 'must be a time such as 5s'],
    ['2 Min', 'must be a time such as 2m'],
    ['20 msec', 'must be a time such as 20ms'],
    ['soon', 'must be a time such as 500ms, 5s, 10m, 2h or 1d'],
    [null, 'must be a time such as 500ms, 5s, 10m, 2h or 1d'],
  ] as const) {
    const sentence = `for is ${JSON.stringify(duration)}; it ${rule}.`
    t.throws(() => parseDuration('for', duration as string), new OptionError(sentence), String(duration))
  }
})

t.test('the error of a wrong rate names the option, the value and the rule', async (t) => {
  for (const rate of [0, '10MB', '0MB/s', '/s', 'fast']) {
    const sentence = `to is ${JSON.stringify(rate)}; it must be a rate such as 64KB/s or 10MB/s.`
    t.throws(() => parseRate('to', rate as string), new OptionError(sentence), String(rate))
  }
})
