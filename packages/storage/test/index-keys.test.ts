import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { decode, DocumentWriter, encode, nullValue, type Document } from '@shardlab/bson'
import { parseKeyPattern } from '@shardlab/query'
import { KeyGenerator } from '../src/index.js'
import { errorOf } from './support/query.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
// Reset: files share a process, and V8 rejects cached code compiled under other flags.
setFlagsFromString('--no-expose-gc')

function keysOf(pattern: Document, document: Document, sparse = false): unknown[] {
  const generator = new KeyGenerator(parseKeyPattern(encode(pattern)), sparse)
  const bytes = encode(document)
  const byKey = new Map<string, unknown>()
  for (const tuple of generator.tuplesOf(bytes)) {
    const writer = new DocumentWriter()
    tuple.forEach((value, i) => writer.value(String(i), value ?? nullValue))
    byKey.set(generator.encode(tuple), Object.values(decode(writer.finish())))
  }
  const keys = [...byKey.keys()].sort()
  t.same([...generator.generate(bytes).keys].sort(), keys, 'generate and tuplesOf agree')
  return keys.map((key) => byKey.get(key))
}

const undefinedInArray = [undefined]

// Cases of the server's btree_key_generator_test.cpp.
t.test('the keys of a document are those of the server', async (t) => {
  const cases: [pattern: Document, document: Document, keys: unknown[]][] = [
    [{ a: 1 }, { b: 4, a: 5 }, [[5]]],
    [{ 'a.b': 1 }, { a: { b: 4 }, c: 'foo' }, [[4]]],
    [{ a: 1 }, { a: [1, 2, 3] }, [[1], [2], [3]]],
    [{ a: 1 }, { a: [0, 0, 0] }, [[0]]],
    [
      { a: 1, b: 1 },
      { a: [1, 2, 3], b: 2 },
      [
        [1, 2],
        [2, 2],
        [3, 2],
      ],
    ],
    [
      { a: -1, b: 1 },
      { a: [1, 2, 3], b: 2 },
      [
        [3, 2],
        [2, 2],
        [1, 2],
      ],
    ],
    [
      { first: 1, a: 1 },
      { first: 5, a: [1, 2, 3] },
      [
        [5, 1],
        [5, 2],
        [5, 3],
      ],
    ],
    [{ 'a.b': 1 }, { a: { b: [1, 2, 3] } }, [[1], [2], [3]]],
    [
      { 'a.b': 1 },
      {
        a: [
          { b: 1, c: 4 },
          { b: 2, c: 4 },
        ],
      },
      [[1], [2]],
    ],
    [{ 'a.b.c': 1 }, { a: { b: [{ c: 1 }, { c: 2 }] } }, [[1], [2]]],
    [
      { 'a.b': 1, d: 1 },
      { a: [{ b: 1 }, { b: 2 }], d: 99 },
      [
        [1, 99],
        [2, 99],
      ],
    ],
    [{ 'a.b': 1 }, { a: [{ foo: 41 }, { b: 1 }, { b: 2 }] }, [[null], [1], [2]]],
    [{ a: 1 }, { b: 1 }, [[null]]],
    [{ 'a.b': 1 }, { a: [1, 2] }, [[null]]],
    [{ x: 1, y: 1 }, { x: 'a' }, [['a', null]]],
    [{ 'a.b': 1 }, { a: [{ b: [2] }] }, [[2]]],
    [
      { 'a.b': 1, 'a.c': 1 },
      { a: [{ b: 1 }, { c: 2 }] },
      [
        [null, 2],
        [1, null],
      ],
    ],
    [{ 'a.b': 1 }, { a: [{ b: 1 }, { b: [1, 2, 3] }] }, [[1], [2], [3]]],
    [{ a: 1 }, { a: [] }, [undefinedInArray]],
    [{ a: 1, b: 1 }, { a: 1, b: [] }, [[1, undefined]]],
    [{ 'a.b': 1 }, { a: [] }, [[null]]],
    [{ a: 1, 'a.b': 1 }, { a: [] }, [[undefined, null]]],
    [{ a: 1, 'a.b': 1 }, { a: [{ b: 1 }] }, [[{ b: 1 }, 1]]],
    [{ a: 1, 'a.b': 1 }, { a: [{ b: [] }] }, [[{ b: [] }, undefined]]],
    [{ a: 1 }, { a: [[2]] }, [[[2]]]],
    [
      { a: 1, 'a.b': 1 },
      { a: [1, { b: [2, 3, 4] }] },
      [
        [1, null],
        [{ b: [2, 3, 4] }, 2],
        [{ b: [2, 3, 4] }, 3],
        [{ b: [2, 3, 4] }, 4],
      ],
    ],
    [{ 'a.b.c': 1 }, { a: [1, 2, { b: { c: [3, 4] } }] }, [[null], [3], [4]]],
    [
      { 'a.b.c': 1, 'a.b.d': 1 },
      { a: [1, 2, { b: { c: [3, 4], d: 5 } }] },
      [
        [null, null],
        [3, 5],
        [4, 5],
      ],
    ],
    [{ 'a.b': 1 }, { a: [[1, 2, 5]] }, [[null]]],
  ]
  for (const [pattern, document, keys] of cases)
    t.same(keysOf(pattern, document), keys, JSON.stringify([pattern, document]))
})

t.test('numeric path components select elements', async (t) => {
  const cases: [pattern: Document, document: Document, keys: unknown[]][] = [
    [{ 'a.0': 1 }, { a: [1] }, [[1]]],
    [{ 'a.0': 1 }, { a: [[1]] }, [[[1]]]],
    [{ 'a.0': 1 }, { a: [[]] }, [undefinedInArray]],
    [{ 'a.0': 1 }, { a: { 0: 1 } }, [[1]]],
    [{ 'a.0.0': 1 }, { a: [[1]] }, [[1]]],
    [{ 'a.0.0': 1 }, { a: [[]] }, [[null]]],
    [{ 'a.0.0': 1 }, { a: [] }, [[null]]],
    [{ 'a.0.0': 1 }, { a: [[[]]] }, [undefinedInArray]],
    [{ 'a.0.b': 1 }, { a: [{ b: 1 }] }, [[1]]],
    [{ 'a.0.b': 1 }, { a: [{ b: [1] }] }, [[1]]],
    [{ 'a.0.b': 1 }, { a: [{ b: [[1]] }] }, [[[1]]]],
    [{ 'a.0.b': 1 }, { a: [[{ b: 1 }]] }, [[1]]],
    [{ 'a.0.b.0': 1 }, { a: [{ b: [1] }] }, [[1]]],
    [{ 'a.2': 1 }, { a: [{ 2: 5 }] }, [[5]]],
    [{ 'a.2': 1 }, { a: [[1, 2, 5]] }, [[null]]],
    [
      { 'a.2': 1 },
      {
        a: [
          [1, 2, 5],
          [3, 4, 6],
          [0, 1, 2],
        ],
      },
      [[[0, 1, 2]]],
    ],
    [{ 'a.b.2': 1 }, { a: [{ b: [[1, 2, 5]] }] }, [[null]]],
    [{ 'a.2': 1 }, { a: [[1, 2, 5], { 2: 6 }] }, [[null], [6]]],
  ]
  for (const [pattern, document, keys] of cases)
    t.same(keysOf(pattern, document), keys, JSON.stringify([pattern, document]))
  t.match(
    errorOf(() => keysOf({ 'a.0': 1 }, { a: [{ 0: 1 }] })),
    { code: 16746, message: /^Ambiguous field name found in array .*, field: '0' for array: / },
  )
})

t.test('parallel arrays fail', async (t) => {
  const error = errorOf(() => keysOf({ a: 1, b: 1 }, { a: [1, 2], b: [3] }))
  t.match(error, { code: 171, codeName: 'CannotIndexParallelArrays', message: 'cannot index parallel arrays [b] [a]' })
  t.equal(errorOf(() => keysOf({ a: 1, b: 1 }, { a: [], b: [] })).code, 171)
  t.equal(errorOf(() => keysOf({ 'a.b': 1, 'a.c': 1 }, { a: [{ b: [1], c: [2] }] })).code, 171)
  t.same(
    keysOf({ a: 1, 'a.b': 1 }, { a: [1, 2] }),
    [
      [1, null],
      [2, null],
    ],
    'the same array twice is valid',
  )
})

t.test('a sparse index has no key if all fields are missing', async (t) => {
  t.same(keysOf({ 'a.b': 1 }, { a: 1 }, true), [])
  t.same(keysOf({ 'a.b': 1 }, { a: [{ c: 1 }] }, true), [])
  t.same(keysOf({ 'a.b': 1 }, { a: [1, { b: 1 }] }, true), [[1]])
  t.same(keysOf({ z: 1, 'a.b': 1 }, { a: 1 }, true), [])
  t.same(keysOf({ z: 1, 'a.b': 1 }, { z: null }, true), [[null, null]])
  t.same(keysOf({ 'a.b': 1, a: 1 }, { a: [] }, true), [[null, undefined]])
})

t.test('a hashed index has the hash of the value and rejects arrays', async (t) => {
  const hashOfNull = 2338878944348059895n
  const [missing] = keysOf({ a: 'hashed' }, {}) as [[{ toBigInt(): bigint }]]
  t.equal(missing[0].toBigInt(), hashOfNull)
  t.same(keysOf({ b: 1, a: 'hashed' }, { b: 3 }), [[3, ...missing]])
  t.same(keysOf({ a: 'hashed' }, {}, true), [])
  t.match(
    errorOf(() => keysOf({ a: 'hashed' }, { a: [1] })),
    {
      code: 16766,
      message: 'Error: hashed indexes do not currently support array values. Found array at path: a',
    },
  )
  t.match(
    errorOf(() => keysOf({ 'a.b.c': 'hashed' }, { a: { b: [{ c: 1 }] } })),
    { code: 16766, message: /Found array at path: a\.b$/ },
  )
  t.equal(errorOf(() => keysOf({ b: 1, a: 'hashed' }, { b: [1], a: 1 })).code, 16766)
})

t.test('generate reports which path components were arrays', async (t) => {
  const arraysOf = (pattern: Document, document: Document): unknown => {
    const { arrays } = new KeyGenerator(parseKeyPattern(encode(pattern)), false).generate(encode(document))
    return arrays === null ? null : arrays.map((components) => [...components].sort())
  }
  t.same(arraysOf({ a: 1 }, { a: 1 }), null)
  t.same(arraysOf({ a: 1 }, { a: [] }), [[0]])
  t.same(arraysOf({ 'a.b': 1, c: 1 }, { a: [{ b: [1] }], c: 1 }), [[0, 1], []])
  t.same(arraysOf({ 'a.b': 1 }, { a: { b: [1, 2] } }), [[1]])
  t.same(arraysOf({ 'a.0': 1 }, { a: [1, 2] }), [[]])
})

t.test('a compound index does not keep the message of a document alive', async (t) => {
  const generator = new KeyGenerator(parseKeyPattern(encode({ a: 1, b: 1 })), false)
  const came = (): WeakRef<Uint8Array> => {
    const message = Buffer.concat([Buffer.alloc(8), encode({ a: 1, b: 2 })])
    generator.generate(message, 8)
    return new WeakRef<Uint8Array>(message)
  }
  const messages = [came(), came(), came()]
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  t.same(
    messages.map((message) => message.deref()),
    [undefined, undefined, undefined],
  )
})
