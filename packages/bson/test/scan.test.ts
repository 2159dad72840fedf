import t from 'tap'
import fc from 'fast-check'
import { BSON } from 'bson'
import {
  BsonType,
  cstringEnd,
  documentAt,
  documentsOf,
  elementsOf,
  emptyDocument,
  encode,
  FieldIterator,
  fieldsOf,
  findField,
  findPath,
  firstFieldName,
  fromRawValue,
  isEmptyDocument,
  valueEnd,
} from '@shardlab/bson'
import { documentArbitrary, fieldModels } from './support/arbitrary.js'
import { documentBytes, payload } from './support/model.js'
import { check } from './support/check.js'

const options = { promoteLongs: false, promoteBuffers: false, bsonRegExp: true } as const

t.test('an iterator finds the fields of any document', async () => {
  check(
    fc.property(fieldModels, (fields) => {
      const found = fieldsOf(documentBytes(fields))
      return (
        found.length === fields.length &&
        found.every(
          ([name, value], i) =>
            name === fields[i]![0] &&
            value.type === BsonType[fields[i]![1].kind] &&
            Buffer.compare(value.slice(), payload(fields[i]![1])) === 0,
        )
      )
    }),
  )
})

t.test('findField finds the first field of a name, at any offset of an array', async () => {
  check(
    fc.property(fieldModels, fc.nat({ max: 5 }), fc.string({ maxLength: 4 }), (fields, shift, absent) => {
      const bytes = Buffer.concat([Buffer.alloc(shift, 0x61), documentBytes(fields), Buffer.alloc(shift, 0x61)])
      const names = new Set(fields.map(([name]) => name))
      return (
        [...names].every(
          (name) =>
            Buffer.compare(
              findField(bytes, name, shift)!.slice(),
              payload(fields.find(([other]) => other === name)![1]),
            ) === 0,
        ) &&
        (names.has(absent) || findField(bytes, absent, shift) === undefined)
      )
    }),
  )
})

t.test('values read as the bson package reads the document', async () => {
  check(
    fc.property(documentArbitrary, (bytes) => {
      const names = new Set(fieldsOf(bytes).map(([name]) => name))
      const whole = BSON.deserialize(bytes, options)
      // An object keeps the last value of a repeated name.
      const last = new Map(fieldsOf(bytes))
      for (const name of names)
        if (JSON.stringify(fromRawValue(last.get(name)!)) !== JSON.stringify(whole[name])) return false
      return Object.keys(whole).length === names.size
    }),
  )
})

t.test('names that nearly match are not found', async (t) => {
  const bytes = encode({ ab: 1, a: 2, é: 3, éa: 4, '': 5, abc: 6, aé: 7, 'a😀': 8 })
  for (const [name, value] of [
    ['ab', 1],
    ['a', 2],
    ['é', 3],
    ['éa', 4],
    ['', 5],
    ['abc', 6],
    ['aé', 7],
    ['a😀', 8],
  ] as const)
    t.equal(findField(bytes, name)?.asNumber(), value, name)
  for (const name of ['b', 'abcd', 'è', 'éé', 'aè', '€']) t.equal(findField(bytes, name), undefined, name)
  t.equal(findField(encode({ a: 'x' }), 'a\0'), undefined, 'a NUL is not part of a name')
  t.equal(findField(encode({ a: 0 }), 'a\0\0'), undefined)
  t.equal(findField(emptyDocument, 'a'), undefined)
})

t.test('a path enters embedded documents only', async (t) => {
  const bytes = encode({ a: { b: { c: 1 }, 'x.y': 2 }, arr: [{ c: 1 }], n: 5, '': { '': 7 } })
  t.equal(findPath(bytes, 'a.b.c')?.asNumber(), 1)
  t.equal(findPath(bytes, 'n')?.asNumber(), 5)
  t.equal(findPath(bytes, '.')?.asNumber(), 7)
  t.equal(findPath(bytes, 'a.b.c.d'), undefined)
  t.equal(findPath(bytes, 'a.x.y'), undefined)
  t.equal(findPath(bytes, 'arr.0'), undefined, 'arrays are not entered')
  t.equal(findPath(bytes, 'arr.c'), undefined)
  t.equal(findPath(bytes, 'nothing.b'), undefined)
})

t.test('elementsOf and documentsOf list an array', async (t) => {
  const array = findField(encode({ a: [{ x: 1 }, 2, { y: 'z' }] }), 'a')!
  t.same(
    elementsOf(array).map((value) => value.type),
    [BsonType.object, BsonType.int32, BsonType.object],
  )
  t.same(
    documentsOf(array).map((bytes) => BSON.deserialize(bytes)),
    [{ x: 1 }, { y: 'z' }],
  )
})

t.test('the first field, empty documents and documents at an offset are read', async (t) => {
  const bytes = encode({ find: 'c', filter: {} })
  t.equal(firstFieldName(bytes), 'find')
  t.equal(firstFieldName(emptyDocument), undefined)
  t.ok(isEmptyDocument(emptyDocument))
  t.notOk(isEmptyDocument(bytes))
  const filter = findField(bytes, 'filter')!
  t.ok(isEmptyDocument(bytes, filter.start))
  t.same([...documentAt(bytes, filter.start)], [...emptyDocument])
})

t.test('an iterator ends once and stays ended', async (t) => {
  const it = new FieldIterator(encode({ a: 1, b: 'x' }))
  t.ok(it.next())
  t.equal(it.name(), 'a')
  t.equal(it.value().asNumber(), 1)
  t.ok(it.next())
  t.equal(it.value().asString(), 'x')
  t.notOk(it.next())
  t.notOk(it.next(), 'still at the end')
})

t.test('functions that trust the structure still terminate on broken bytes', async (t) => {
  t.throws(() => cstringEnd(new Uint8Array([1, 2]), 0), { message: 'unterminated cstring' })
  t.throws(() => valueEnd(0x33, emptyDocument, 0), { message: 'not a BSON type: 51' })
  t.notOk(new FieldIterator(new Uint8Array(0)).next())
})
