import { InvalidArgumentError } from 'commander'
import t from 'tap'
import { collect, seconds, seed, size, wholeNumber } from '../src/commands/argument-parsers.js'

const refused = (parse: (text: string) => unknown, ...texts: string[]): void => {
  for (const text of texts) t.throws(() => parse(text), InvalidArgumentError, JSON.stringify(text))
}

t.test('a whole number has at most 15 digits and no sign', async (t) => {
  t.equal(wholeNumber('0'), 0)
  t.equal(wholeNumber('999999999999999'), 999_999_999_999_999)
  refused(wholeNumber, '', '-1', '+1', '1.5', '1e3', '0x10', ' 1', '1000000000000000')
})

t.test('a seed is an unsigned 32-bit number', async (t) => {
  t.equal(seed('4294967295'), 2 ** 32 - 1)
  refused(seed, '4294967296', '-1', '1.5', 'x')
})

t.test('a time has a unit', async (t) => {
  t.same(['30s', '500ms', '1.5m', '1h', '0s', '0'].map(seconds), [30, 0.5, 90, 3600, 0, 0])
  refused(seconds, '', '1', '5 s', '-5s', '1h30m', 'soon')
})

t.test('a size has a unit', async (t) => {
  t.same(['64KB', '1 gb'].map(size), ['64KB', '1 gb'])
  refused(size, '64', '0MB', 'big')
})

t.test('an option that is repeated collects its values in order', async (t) => {
  t.same(collect('b', collect('a')), ['a', 'b'])
})
