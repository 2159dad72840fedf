import t from 'tap'
import fc from 'fast-check'
import { BSON, Binary, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson'
import { arrayIndexName, BsonType, decode, DocumentWriter, emptyDocument, encode, RawValue } from '@shardlab/bson'
import { fieldModels } from './support/arbitrary.js'
import { documentBytes, payload, rawValue, type Model } from './support/model.js'
import { check } from './support/check.js'

function write(writer: DocumentWriter, name: string, model: Model): void {
  switch (model.kind) {
    case 'int32':
      return void writer.int32(name, model.value)
    case 'double':
      return void writer.double(name, model.value)
    case 'int64':
      return void writer.int64(name, model.value)
    case 'string':
      return void writer.string(name, model.text)
    case 'bool':
      return void writer.bool(name, model.value)
    case 'null':
      return void writer.null(name)
    case 'minKey':
      return void writer.minKey(name)
    case 'maxKey':
      return void writer.maxKey(name)
    case 'objectId':
      return void writer.objectId(name, model.bytes)
    case 'timestamp':
      return void writer.timestamp(name, Number(model.value >> 32n), Number(model.value & 0xffff_ffffn))
    case 'object':
      writer.startDocument(name)
      for (const [field, value] of model.fields) write(writer, field, value)
      return void writer.end()
    case 'array':
      writer.startArray(name)
      model.elements.forEach((value, i) => write(writer, arrayIndexName(i), value))
      return void writer.end()
    case 'binary':
      return void (model.subtype === 2
        ? writer.value(name, rawValue(model))
        : writer.binary(name, model.subtype, model.bytes))
    case 'regex':
    case 'code':
      return void writer.raw(name, BsonType[model.kind], payload(model))
    default:
      return void writer.value(name, rawValue(model))
  }
}

t.test('a writer produces the bytes of any document', async () => {
  check(
    fc.property(fieldModels, fc.integer({ min: 0, max: 300 }), (fields, sizeHint) => {
      const writer = new DocumentWriter(sizeHint)
      for (const [name, value] of fields) write(writer, name, value)
      return Buffer.compare(writer.finish(), documentBytes(fields)) === 0
    }),
  )
})

t.test('a writer produces the same bytes as the bson package', async (t) => {
  const id = new ObjectId()
  const uuid = new Uint8Array(16).fill(7)
  const bytes = new DocumentWriter()
    .int32('i', -7)
    .int64('l', 2n ** 40n)
    .int64('n', -3)
    .double('d', 1.5)
    .bool('t', true)
    .string('s', 'é😀\0x')
    .date('at', -1577836800000)
    .timestamp('ts', 0xffffffff, 3)
    .uuid('u', uuid)
    .objectId('id', id.id)
    .documents('docs', [encode({ a: 1 }), emptyDocument])
    .document('doc', encode({ b: 2 }))
    .startDocument('é')
    .startArray('x')
    .end()
    .minKey('m')
    .end()
    .maxKey('M')
    .null('z')
    .fields(encode({ p: 1, q: [] }))
    .finish()
  t.same(
    Buffer.from(bytes),
    Buffer.from(
      BSON.serialize({
        i: -7,
        l: Long.fromBigInt(2n ** 40n),
        n: Long.fromNumber(-3),
        d: 1.5,
        t: true,
        s: 'é😀\0x',
        at: new Date(-1577836800000),
        ts: new Timestamp({ t: 0xffffffff, i: 3 }),
        u: new Binary(uuid, 4),
        id,
        docs: [{ a: 1 }, {}],
        doc: { b: 2 },
        é: { x: [], m: new MinKey() },
        M: new MaxKey(),
        z: null,
        p: 1,
        q: [],
      }),
    ),
  )
})

t.test('length counts the bytes written so far', async (t) => {
  const writer = new DocumentWriter()
  t.equal(writer.length, 4)
  writer.int32('a', 1)
  t.equal(writer.length, 11)
  t.equal(writer.finish().length, 12)
})

t.test('writers used at the same time do not affect each other', async () => {
  check(
    fc.property(
      fc.array(fc.tuple(fieldModels, fc.integer({ min: 0, max: 3000 })), { minLength: 2, maxLength: 6 }),
      (documents) => {
        const writers = documents.map(([, sizeHint]) => new DocumentWriter(sizeHint))
        const longest = Math.max(...documents.map(([fields]) => fields.length))
        for (let i = 0; i < longest; i++) {
          // Never finished.
          new DocumentWriter().startDocument('left')
          documents.forEach(([fields], writer) => {
            const field = fields[i]
            if (field !== undefined) write(writers[writer]!, field[0], field[1])
          })
        }
        const finished = writers.map((writer) => writer.finish())
        return documents.every(([fields], i) => Buffer.compare(finished[i]!, documentBytes(fields)) === 0)
      },
    ),
    300,
  )
})

t.test('an int64 can be written from any integer number', async (t) => {
  for (const value of [
    0,
    -1,
    1,
    -(2 ** 32),
    2 ** 32,
    -(2 ** 31),
    2 ** 31,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    2 ** 60,
  ])
    t.same(
      new DocumentWriter().int64('n', value).finish(),
      new DocumentWriter().int64('n', BigInt(value)).finish(),
      String(value),
    )
  t.throws(() => new DocumentWriter().int64('n', 0.5), RangeError)
})

t.test("a large document shares no memory with its value's array", async (t) => {
  const source = Buffer.alloc(1000, 5)
  const bytes = new DocumentWriter(16)
    .value('v', new RawValue(BsonType.binary, Buffer.concat([Buffer.from([0xe8, 3, 0, 0, 0]), source]), 0, 1005))
    .finish()
  source.fill(6)
  t.ok((decode(bytes)['v'] as Binary).buffer.every((byte) => byte === 5))
})

t.test('a finished document has the room it needs; one that is sent may have more', async (t) => {
  const write = (bytes: number) => new DocumentWriter().binary('b', 0, new Uint8Array(bytes)).int32('n', 1)
  for (const bytes of [10, 3000, 300_000, 5_000_000, 20_000_000]) {
    const exact = write(bytes).finish()
    const sent = write(bytes).finishToSend()
    t.equal(Buffer.compare(exact, sent), 0, `${bytes} bytes`)
    if (bytes > 3000) t.ok(exact.buffer.byteLength < exact.length + 64)
    t.ok(sent.buffer.byteLength < Math.max(20_000, sent.length * 4 + 1_000_000))
  }
})

t.test('misuse of a writer throws', async (t) => {
  t.throws(() => new DocumentWriter().end(), { message: 'no embedded document is open' })
  t.throws(() => new DocumentWriter().startArray('a').finish(), { message: 'an embedded document is still open' })
  t.throws(() => new DocumentWriter().int32('a\0b', 1), { message: 'a field name cannot contain NUL' })
  t.throws(() => new DocumentWriter().int32('é\0b', 1), { message: 'a field name cannot contain NUL' })
})

t.test('the names of array elements are their indexes', async (t) => {
  for (const index of [0, 9, 1023, 1024, 70000]) t.equal(arrayIndexName(index), String(index))
})
