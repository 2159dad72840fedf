/** The format's comparison: pairs that match and pairs that do not. */
import t from 'tap'
import { Binary, Double, Int32, Long, ObjectId } from 'mongodb'
import { matchNested, matchRoot, Mismatch, type MatchContext } from './matching.js'

const lsid = { id: new Binary(Buffer.alloc(16, 7), 4) }
const context: MatchContext = { entity: (name) => ({ saved: { a: 1 } })[name], lsid: () => lsid }

t.test('values that the format allows match', async (t) => {
  const id = new ObjectId()
  const cases: [actual: unknown, expected: unknown][] = [
    [{ a: 1, b: 2 }, { a: 1 }],
    [[{ a: 1, extra: true }], [{ a: 1 }]],
    [{ a: Long.fromNumber(5) }, { a: 5 }],
    [{ a: 5 }, { a: new Int32(5) }],
    [{ a: new Double(5) }, { a: 5n }],
    [{ a: id }, { a: new ObjectId(id.toHexString()) }],
    [{ a: 1 }, { b: { $$exists: false } }],
    [{ a: null }, { a: { $$exists: true } }],
    [{}, { a: { $$unsetOrMatches: 5 } }],
    // The driver's results have null where the format omits a field.
    [{ a: null }, { a: { $$unsetOrMatches: 5 } }],
    [{ a: 5 }, { a: { $$unsetOrMatches: { $$type: ['int', 'long'] } } }],
    [undefined, { $$unsetOrMatches: { a: 1 } }],
    [{ lsid }, { lsid: { $$sessionLsid: 'session0' } }],
    [{ a: 1 }, { $$matchesEntity: 'saved' }],
    [{ a: new Binary(Buffer.from('0aff', 'hex')) }, { a: { $$matchesHexBytes: '0AFF' } }],
    [{ a: 3 }, { a: { $$lte: 3 } }],
    [{ a: '{"b": {"$numberInt": "1"}}' }, { a: { $$matchAsDocument: { b: 1 } } }],
    [{ a: '{"b": 1, "c": 2}' }, { a: { $$matchAsDocument: { $$matchAsRoot: { b: 1 } } } }],
    [{ sort: new Map([['x', 1]]) }, { sort: { x: 1 } }],
    [{ a: { b: 1, c: undefined } }, { a: { b: 1 } }],
  ]
  for (const [actual, expected] of cases) t.doesNotThrow(() => matchRoot(actual, expected, context))
})

t.test('values that differ are mismatches with their path', async (t) => {
  const cases: [actual: unknown, expected: unknown, message: RegExp][] = [
    [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, /^a\.c: expected nothing, got 2$/],
    [{ a: 1 }, { a: 2 }, /^a: expected 2, got 1$/],
    [{ a: '1' }, { a: 1 }, /^a:/],
    [{ a: null }, { a: { $$exists: false } }, /^a:/],
    [{}, { a: { $$exists: true } }, /^a:/],
    [{}, { a: null }, /^a: expected null, got nothing$/],
    [{ a: 6 }, { a: { $$unsetOrMatches: 5 } }, /^a:/],
    [{ a: { b: null } }, { a: { b: { $$unsetOrMatches: 5 } } }, /^a\.b:/],
    [{ a: 2 ** 40 }, { a: { $$type: 'int' } }, /^a:/],
    [{ a: 4 }, { a: { $$lte: 3 } }, /^a:/],
    [[1, 2], [1], /the value/],
    [{ a: [1, 2] }, { a: [2, 1] }, /^a\[0\]/],
    [{ a: '{"b": 1, "c": 2}' }, { a: { $$matchAsDocument: { b: 1 } } }, /^a\.c:/],
    [{ lsid: {} }, { lsid: { $$sessionLsid: 'session0' } }, /^lsid:/],
  ]
  for (const [actual, expected, message] of cases) {
    try {
      matchRoot(actual, expected, context)
      t.fail(`${JSON.stringify(actual)} matched ${JSON.stringify(expected)}`)
    } catch (error) {
      t.ok(error instanceof Mismatch)
      t.match((error as Error).message, message)
    }
  }
  t.throws(() => matchNested({ a: 1, b: 2 }, { a: 1 }, context), { message: 'b: expected nothing, got 2' })
  t.throws(() => matchRoot({ a: 1 }, { a: { $$unheardOf: 1 } }, context), /does not know the operator \$\$unheardOf/)
})
