/**
 * Run by hand: `node dist/test/bench/bytes.bench.js`. Prints nanoseconds per call, the best of
 * several rounds.
 */
import { performance } from 'node:perf_hooks'
import {
  compareDocuments,
  compareValues,
  encode,
  encodeKeyString,
  findField,
  findPath,
  hashValue,
  Long,
  ObjectId,
  RawValue,
  toRawValue,
  validateBson,
  Decimal128,
  DocumentWriter,
  FieldIterator,
  decode,
  keyStringOfDocument,
} from '@shardlab/bson'

let sink = 0

function measure(name: string, calls: number, run: (i: number) => number, bytesPerCall = 0): void {
  let best = Infinity
  for (let round = 0; round < 7; round++) {
    const from = performance.now()
    for (let i = 0; i < calls; i++) sink += run(i)
    best = Math.min(best, performance.now() - from)
  }
  const ns = (best * 1e6) / calls
  const rate = bytesPerCall === 0 ? '' : `  ${((bytesPerCall / ns) * 1000).toFixed(0)} MB/s`
  console.log(`${name.padEnd(44)} ${ns.toFixed(1).padStart(9)} ns${rate}`)
}

const documents = Array.from({ length: 1024 }, (_, i) =>
  encode({
    _id: new ObjectId(),
    tenant: `tenant-${i % 50}`,
    ts: Long.fromNumber(1_700_000_000_000 + i),
    amount: i * 1.5,
    name: `customer number ${i}`,
    tags: ['a', 'b', 'c'],
    nested: { city: 'Basel', zip: 4000 + i },
  }),
)
const size = documents[7]!.length
const pick =
  <T>(values: readonly T[]): ((i: number) => T) =>
  (i) =>
    values[i & 1023]!
const document = pick(documents)
const column = (make: (i: number) => unknown): ((i: number) => RawValue) =>
  pick(Array.from({ length: 1024 }, (_, i) => toRawValue(make(i))))
const ints = column((i) => (i * 7919) % 1000)
const doubles = column((i) => i * 1.37)
const longs = column((i) => Long.fromBigInt(2n ** 60n + BigInt(i)))
const smallLongs = column((i) => Long.fromNumber(i * 1e9))
const ids = column(() => new ObjectId())
const strings = column((i) => `tenant-${(i * 31) % 97}`)
const decimals = column((i) => Decimal128.fromString(`${i}.1`))

console.log(`document of ${size} bytes`)
measure('findField: first', 2e6, (i) => findField(document(i), '_id')!.start)
measure('findField: third', 2e6, (i) => findField(document(i), 'ts')!.start)
measure('findField: last', 2e6, (i) => findField(document(i), 'nested')!.start)
measure('findField: absent', 2e6, (i) => (findField(document(i), 'absent') === undefined ? 1 : 0))
measure('findPath: nested.zip', 2e6, (i) => findPath(document(i), 'nested.zip')!.start)
measure('FieldIterator: all fields', 1e6, (i) => {
  let n = 0
  for (const it = new FieldIterator(document(i)); it.next();) n += it.type
  return n
})
measure('validateBson', 1e6, (i) => (validateBson(document(i)) === null ? 1 : 0), size)
const wide = encode(
  Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`f${i}`, i % 3 === 0 ? i : 'some text of forty characters or about it']),
  ),
)
measure(`validateBson: 60 fields, ${wide.length} bytes`, 2e5, () => (validateBson(wide) === null ? 1 : 0), wide.length)
measure('decode (for comparison)', 1e5, (i) => (decode(document(i)) === undefined ? 1 : 0))

measure('compareValues: int32', 5e6, (i) => compareValues(ints(i), ints(i + 1)))
measure('compareValues: double', 5e6, (i) => compareValues(doubles(i), doubles(i + 1)))
measure('compareValues: int32 with double', 5e6, (i) => compareValues(ints(i), doubles(i + 1)))
measure('compareValues: int64 beyond 53 bits', 5e5, (i) => compareValues(longs(i), longs(i + 1)))
measure('compareValues: string', 5e6, (i) => compareValues(strings(i), strings(i + 1)))
measure('compareValues: objectId', 5e6, (i) => compareValues(ids(i), ids(i + 1)))
measure('compareValues: decimal', 1e5, (i) => compareValues(decimals(i), decimals(i + 1)))
measure('compareDocuments', 2e6, (i) => compareDocuments(document(i), document(i + 1)))

measure('encodeKeyString: int32', 2e6, (i) => encodeKeyString([ints(i)]).length)
measure('encodeKeyString: double', 2e6, (i) => encodeKeyString([doubles(i)]).length)
measure('encodeKeyString: int64', 2e6, (i) => encodeKeyString([smallLongs(i)]).length)
measure('encodeKeyString: int64 beyond 53 bits', 2e5, (i) => encodeKeyString([longs(i)]).length)
measure('encodeKeyString: string', 2e6, (i) => encodeKeyString([strings(i)]).length)
measure('encodeKeyString: objectId', 2e6, (i) => encodeKeyString([ids(i)]).length)
measure('encodeKeyString: string, int64', 2e6, (i) => encodeKeyString([strings(i), smallLongs(i)]).length)
measure(
  'encodeKeyString: string, int64, int32, oid',
  1e6,
  (i) => encodeKeyString([strings(i), smallLongs(i), ints(i), ids(i)]).length,
)
measure(
  'encodeKeyString: string, int64 descending',
  2e6,
  (i) => encodeKeyString([strings(i), smallLongs(i)], [false, true]).length,
)
measure('encodeKeyString: decimal', 1e5, (i) => encodeKeyString([decimals(i)]).length)
measure('keyStringOfDocument', 5e5, (i) => keyStringOfDocument(document(i)).length)
const keys = Array.from({ length: 1024 }, (_, i) => encodeKeyString([strings(i), smallLongs(i)]))
measure('KeyString <', 1e7, (i) => (keys[i & 1023]! < keys[(i + 1) & 1023]! ? 1 : 0))

measure('hashValue: int32', 3e5, (i) => (hashValue(ints(i)) > 0n ? 1 : 0))
measure('hashValue: objectId', 3e5, (i) => (hashValue(ids(i)) > 0n ? 1 : 0))
measure('hashValue: string', 3e5, (i) => (hashValue(strings(i)) > 0n ? 1 : 0))

measure(
  'DocumentWriter: {ok, n, s}',
  1e6,
  (i) => new DocumentWriter(64).double('ok', 1).int32('n', i).string('s', 'some text').finish().length,
)
measure('DocumentWriter: 5 values copied', 1e6, (i) => {
  const writer = new DocumentWriter()
  for (const it = new FieldIterator(document(i)); it.next();) if (it.type !== 3) writer.value(it.name(), it.value())
  return writer.finish().length
})
if (sink === 0.5) console.log(sink)
