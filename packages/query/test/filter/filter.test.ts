import {
  Binary,
  BSONRegExp,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  type Document,
} from '@shardlab/bson'
import t from 'tap'
import { codeOf, context, failure, matches } from '../support/helpers.js'

/** The expected answers are the server's documented behaviour. */
const table: [filter: Document, document: Document, expected: boolean][] = [
  [{}, { a: 1 }, true],
  [{ a: 1 }, { a: 1 }, true],
  [{ a: 1 }, { a: 2 }, false],
  [{ a: 1 }, {}, false],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1, b: 2 }, { b: 3, a: 1 }, false],
  [{ a: 1, b: null }, { a: 1 }, true],
  // Arrays match by their elements and as a whole.
  [{ a: 1 }, { a: [3, 1] }, true],
  [{ a: [3, 1] }, { a: [3, 1] }, true],
  [{ a: [3, 1] }, { a: [[3, 1], 5] }, true],
  [{ a: 1 }, { a: [[1]] }, false],
  [{ a: { $gt: 2, $lt: 4 } }, { a: [1, 5] }, true],
  [{ a: { $elemMatch: { $gt: 2, $lt: 4 } } }, { a: [1, 5] }, false],
  [{ a: { $elemMatch: { $gt: 2, $lt: 4 } } }, { a: [1, 3] }, true],
  [{ a: { $elemMatch: { $gt: 2 } } }, { a: 3 }, false],
  [{ a: { $elemMatch: { b: 1, c: 2 } } }, { a: [{ b: 1 }, { c: 2 }] }, false],
  [{ a: { $elemMatch: { b: 1, c: 2 } } }, { a: [{ b: 1, c: 2 }] }, true],
  [{ a: { $elemMatch: { $or: [{ b: 1 }, { b: 2 }] } } }, { a: [{ b: 2 }] }, true],
  [{ a: { $elemMatch: { $ne: 1 } } }, { a: [1, 1] }, false],
  [{ a: { $elemMatch: { $ne: 1 } } }, { a: [1, 2] }, true],
  [{ a: { $elemMatch: { 0: 7 } } }, { a: [[7]] }, true],
  [{ a: { $ne: 1 } }, { a: [1, 2] }, false],
  [{ a: { $nin: [1] } }, { a: [1, 2] }, false],
  [{ a: { $size: 2 } }, { a: [1, 2] }, true],
  [{ a: { $size: 2 } }, { a: [1, 2, 3] }, false],
  [{ a: { $size: 1 } }, { a: [[1, 2]] }, true],
  [{ a: { $size: 2 } }, { a: [[1, 2]] }, false],
  [{ a: { $all: [1, 2] } }, { a: [2, 3, 1] }, true],
  [{ a: { $all: [1, 2] } }, { a: 1 }, false],
  [{ a: { $all: [1] } }, { a: 1 }, true],
  [{ a: { $all: [] } }, { a: [] }, false],
  [{ a: { $all: [[1, 2]] } }, { a: [1, 2] }, true],
  [{ a: { $all: [{ $elemMatch: { b: 1 } }, { $elemMatch: { b: 2 } }] } }, { a: [{ b: 2 }, { b: 1 }] }, true],
  [{ 'a.b': 1 }, { a: { b: 1 } }, true],
  [{ 'a.b': 1 }, { a: [{ b: 2 }, { b: 1 }] }, true],
  [{ 'a.b': 1 }, { a: [[{ b: 1 }]] }, false],
  [{ 'a.0': 3 }, { a: [3, 1] }, true],
  // A dot at the end: an array before it is at the end of the path, too.
  [{ 'a.': { $exists: true } }, { a: [] }, true],
  [{ 'a.': { $exists: true } }, { a: 5 }, false],
  [{ 'a.': { $exists: true } }, { a: { b: 1 } }, false],
  [{ 'a.': 1 }, { a: { '': 1 } }, true],
  [{ 'a.': 2 }, { a: [1, 2] }, true],
  [{ 'a.': [1, 2] }, { a: [1, 2] }, true],
  [{ 'a.': { $size: 2 } }, { a: [1, 2] }, true],
  [{ 'a.': { $elemMatch: { b: 1 } } }, { a: [{ b: 1 }] }, true],
  [{ 'a.b.': 2 }, { a: [{ b: [2] }] }, true],
  [{ 'a.1.': { $exists: true } }, { a: [1, []] }, true],
  [{ 'a.1.': { $exists: true } }, { a: [[], 1] }, false],
  [{ 'a.0.': 3 }, { a: [[3]] }, true],
  [{ 'a.0.': { $size: 1 } }, { a: [[[3]]] }, true],
  [{ 'a.0.': { $size: 1 } }, { a: [[3, 4]] }, false],
  [{ 'a.0.': 1 }, { a: [{ '': 1 }] }, true],
  [{ 'a..': { $exists: true } }, { a: [1] }, false],
  // In $all, the name of an unknown operator belongs to a literal.
  [{ a: { $all: [{ $unknown: 1 }] } }, { a: [{ $unknown: 1 }] }, true],
  [{ a: { $all: [{ $comment: 1 }] } }, { a: [{ b: 1 }] }, false],
  [{ 'a.1': 3 }, { a: [3, 1] }, false],
  [{ 'a.0': 1 }, { a: [[1, 2]] }, false],
  [{ 'a.0': [1, 2] }, { a: [[1, 2]] }, true],
  [{ 'a.0.0': 1 }, { a: [[1, 2]] }, true],
  [{ 'a.0.b': 1 }, { a: [{ b: 1 }] }, true],
  [{ 'a.1.b': 1 }, { a: [{ b: 1 }] }, false],
  [{ 'a.0': 5 }, { a: { 0: 5 } }, true],
  [{ 'a.0': 5 }, { a: [{ 0: 5 }] }, true],
  [{ 'a.0.b': 1 }, { a: [[{ b: 1 }]] }, true],
  [{ 'a.b.c': 1 }, { a: [{ b: [{ c: 1 }] }] }, true],
  [{ a: null }, {}, true],
  [{ a: null }, { a: null }, true],
  [{ a: null }, { a: 0 }, false],
  [{ a: null }, { a: [1, null] }, true],
  [{ a: null }, { a: [] }, false],
  [{ 'a.b': null }, { a: 5 }, true],
  [{ 'a.b': null }, { a: [{ b: 1 }, {}] }, true],
  [{ 'a.b': null }, { a: [1, 2] }, false],
  [{ 'a.b': null }, { a: [] }, false],
  [{ a: { $gte: null } }, {}, true],
  [{ a: { $gt: null } }, {}, false],
  [{ a: { $ne: null } }, {}, false],
  [{ a: { $exists: true } }, { a: null }, true],
  [{ a: { $exists: false } }, {}, true],
  [{ a: { $exists: false } }, { a: null }, false],
  [{ 'a.b': { $exists: false } }, { a: [1] }, true],
  [{ a: { $in: [null, 5] } }, {}, true],
  [{ a: 1 }, { a: Long.fromNumber(1) }, true],
  [{ a: Long.fromString('9007199254740993') }, { a: new Double(9007199254740992) }, false],
  [{ a: Decimal128.fromString('1.00') }, { a: 1 }, true],
  [{ a: { $lt: Decimal128.fromString('10') } }, { a: Long.fromNumber(9) }, true],
  [{ a: { $gt: new Int32(1) } }, { a: 1.5 }, true],
  [{ a: -0 }, { a: 0 }, true],
  [{ a: Number.NaN }, { a: Number.NaN }, true],
  [{ a: { $gte: Number.NaN } }, { a: Number.NaN }, true],
  [{ a: { $gte: Number.NaN } }, { a: 5 }, false],
  [{ a: { $lt: Number.NaN } }, { a: Number.NaN }, false],
  [{ a: { $lt: 5 } }, { a: Number.NaN }, false],
  [{ a: { $lte: Decimal128.fromString('5') } }, { a: Number.NaN }, false],
  [{ a: { $gt: 1 } }, { a: 'x' }, false],
  [{ a: { $lt: 'x' } }, { a: 5 }, false],
  [{ a: { $gt: new MinKey() } }, { a: 5 }, true],
  [{ a: { $gt: new MinKey() } }, { a: new MinKey() }, false],
  [{ a: { $lt: new MaxKey() } }, { a: 'x' }, true],
  [{ a: new MaxKey() }, { a: new MaxKey() }, true],
  [{ a: { $gt: [1] } }, { a: [2] }, true],
  [{ a: { $gt: [1, 2] } }, { a: [1, 3] }, true],
  [{ a: { $gt: { b: 1 } } }, { a: { b: 2 } }, true],
  [{ a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }, false],
  [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, false],
  [{ a: true }, { a: 1 }, false],
  [{ a: { $lt: true } }, { a: false }, true],
  [{ a: { $gt: new Date(5) } }, { a: new Date(-5) }, false],
  [{ a: { $gt: new Date(-7) } }, { a: new Date(-5) }, true],
  [{ a: { $gt: new Date(0) } }, { a: new Timestamp({ t: 1, i: 1 }) }, false],
  [{ a: { $lt: '\u{1f600}' } }, { a: '\uffee' }, true],
  [{ a: new Binary(Buffer.from('ab'), 0) }, { a: new Binary(Buffer.from('ab'), 5) }, false],
  [{ a: { $gt: new Binary(Buffer.from('zz'), 0) } }, { a: new Binary(Buffer.from('aaa'), 0) }, true],
  [{ a: new ObjectId('507f1f77bcf86cd799439011') }, { a: new ObjectId('507f1f77bcf86cd799439011') }, true],
  [{ a: new ObjectId('507f1f77bcf86cd799439011') }, { a: new ObjectId('507f1f77bcf86cd799439012') }, false],
  [{ a: { $in: [1, 'x', /^y/] } }, { a: 'yes' }, true],
  [{ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } }, { a: Long.fromNumber(9) }, true],
  [{ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } }, { a: [20, 3] }, true],
  [{ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } }, { a: 11 }, false],
  [{ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9, null] } }, {}, true],
  [{ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9, /^x/] } }, { a: 'xy' }, true],
  [{ a: { $in: [[1, 2]] } }, { a: [1, 2] }, true],
  [{ a: { $type: 'number' } }, { a: Decimal128.fromString('1') }, true],
  [{ a: { $type: 'int' } }, { a: new Double(1.5) }, false],
  [{ a: { $type: 'array' } }, { a: [1] }, true],
  [{ a: { $type: 'string' } }, { a: [1, 'x'] }, true],
  [{ a: { $type: ['string', 16] } }, { a: 1 }, true],
  [{ a: { $type: -1 } }, { a: new MinKey() }, true],
  [{ a: { $mod: [4, 0] } }, { a: 8 }, true],
  [{ a: { $mod: [4, 0] } }, { a: 8.7 }, true],
  [{ a: { $mod: [4, -3] } }, { a: -7 }, true],
  [{ a: { $mod: [4, 0] } }, { a: -8 }, true],
  [{ a: { $mod: [4, 0] } }, { a: 'x' }, false],
  [{ a: { $mod: [4, 1] } }, { a: Long.fromString('9007199254740993') }, true],
  [{ a: { $mod: [4, 0] } }, { a: Infinity }, false],
  [{ a: /b+/ }, { a: 'abba' }, true],
  [{ a: /^B/i }, { a: 'bc' }, true],
  [{ a: { $regex: 'a b', $options: 'x' } }, { a: 'ab' }, true],
  [{ a: { $regex: 'b$' } }, { a: 'ab\n' }, true],
  [{ a: { $regex: '^[[:alpha:]]+$' } }, { a: 'abc' }, true],
  [{ a: { $regex: '(?i)ABC' } }, { a: 'abc' }, true],
  [{ a: { $regex: 'a.b', $options: 's' } }, { a: 'a\nb' }, true],
  [{ a: /x/ }, { a: new BSONRegExp('x') }, true],
  [{ a: { $not: /b/ } }, { a: 'abba' }, false],
  [{ a: { $not: { $gt: 5 } } }, {}, true],
  [{ a: { $not: { $gt: 5, $lt: 7 } } }, { a: 8 }, true],
  [{ $or: [{ a: 1 }, { b: 2 }] }, { b: 2 }, true],
  [{ $nor: [{ a: 1 }, { b: 2 }] }, { b: 2 }, false],
  [{ $and: [{ a: 1 }, { b: 2 }] }, { a: 1, b: 2 }, true],
  [{ $comment: 'x', a: 1 }, { a: 1 }, true],
  [{ a: { $eq: 1, $comment: 'x' } }, { a: 1 }, true],
  [{ $alwaysFalse: 1 }, {}, false],
  [{ $alwaysTrue: 1 }, {}, true],
  [{ $expr: { $gt: ['$a', '$b'] } }, { a: 'x', b: 5 }, true],
  [{ $and: [{ a: 1 }, { $or: [{ $expr: { $eq: ['$b', 2] } }] }] }, { a: 1, b: 2 }, true],
  [{ $expr: { $eq: ['$a', null] } }, {}, false],
  [{ $expr: { $lt: ['$a', null] } }, {}, true],
  [{ a: { $bitsAllSet: 6 } }, { a: 7 }, true],
  [{ a: { $bitsAnyClear: [0, 1] } }, { a: 3 }, false],
  [{ a: { $bitsAllSet: [70] } }, { a: -1 }, true],
  [{ a: { $ref: 'c', $id: 1 } }, { a: { $ref: 'c', $id: 1 } }, true],
]

t.test('filters match as on the server', (t) => {
  for (const [filter, document, expected] of table)
    t.equal(matches(filter, document), expected, `${JSON.stringify(filter)} on ${JSON.stringify(document)}`)
  t.end()
})

t.test('invalid filters are refused with the code of the server', (t) => {
  const errors: [filter: Document, code: number, message?: string][] = [
    [{ a: { $foo: 1 } }, 2, 'unknown operator: $foo'],
    [
      { $foo: 1 },
      2,
      "unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
    [{ a: { $in: 1 } }, 2, '$in needs an array'],
    [{ a: { $in: [{ $gt: 1 }] } }, 2, 'cannot nest $ under $in'],
    [{ $or: [] }, 2, '$and/$or/$nor must be a nonempty array'],
    [{ $or: 1 }, 2, '$or must be an array'],
    [{ $and: [1] }, 2, '$or/$and/$nor entries need to be full objects'],
    [{ a: { $not: 1 } }, 2, '$not needs a regex or a document'],
    [{ a: { $gt: /x/ } }, 2, "Can't have RegEx as arg to predicate over field 'a'."],
    [{ a: { $ne: /x/ } }, 2, "Can't have regex as arg to $ne."],
    [{ a: { $options: 'i' } }, 2, '$options needs a $regex'],
    [{ a: { $regex: '(' } }, 51091],
    [{ a: { $regex: 'a', $options: 'z' } }, 51108],
    [{ a: { $size: -1 } }, 2],
    [{ a: { $mod: [0, 1] } }, 2, 'divisor cannot be 0'],
    [{ a: { $mod: [1] } }, 2, 'malformed mod, not enough elements'],
    [{ a: { $type: [] } }, 9],
    [{ a: { $type: 'float' } }, 2],
    [{ a: { $all: [{ $elemMatch: { b: 1 } }, 5] } }, 2, '$all/$elemMatch has to be consistent'],
    [{ a: { $elemMatch: 5 } }, 2, '$elemMatch needs an Object'],
    [{ a: { $eq: undefined } }, 0],
    [{ $expr: { $foo: 1 } }, 168, "Unrecognized expression '$foo'"],
    [{ $expr: '$$nope' }, 17276],
  ]
  for (const [filter, code, message] of errors) {
    const error = failure(() => matches(filter, {}))
    t.equal(error?.code ?? 0, code, JSON.stringify(filter))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
})

t.test('a collation affects strings only', (t) => {
  const strings = (a: string, b: string) =>
    a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : 0
  const over = { ...context, strings }
  t.ok(matches({ a: 'X' }, { a: 'x' }, over))
  t.ok(matches({ a: { $in: ['X'] } }, { a: ['x'] }, over))
  t.notOk(matches({ a: 'X' }, { a: 'y' }, over))
  t.ok(matches({ a: { b: 'X' } }, { a: { b: 'x' } }, over))
  t.end()
})

t.test('a filter that is nested too deeply is refused', (t) => {
  let filter: Document = { a: 1 }
  for (let i = 0; i < 120; i++) filter = { $and: [filter, { b: 1 }] }
  t.equal(
    codeOf(() => matches(filter, {})),
    2,
  )
  t.end()
})

t.test('a path may have 180 names', (t) => {
  const path = (names: number) => Array.from({ length: names }, () => 'a').join('.')
  t.notOk(matches({ [path(180)]: 1 }, {}))
  for (const filter of [
    { [path(181)]: 1 },
    { $or: [{ [path(181)]: { $gt: 1 } }] },
    { b: { $elemMatch: { [path(181)]: 1 } } },
  ])
    t.equal(
      codeOf(() => matches(filter, {})),
      5729100,
    )
  t.end()
})
