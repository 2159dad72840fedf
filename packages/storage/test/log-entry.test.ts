import fc from 'fast-check'
import t from 'tap'
import { decode, encode, findField } from '@shardlab/bson'
import {
  decodeLogEntry,
  encodeInsertEntries,
  type KeyOfInserted,
  encodeLogEntry,
  plainEntryLength,
  writePlainEntry,
  uninitializedTerm,
  type LogEntry,
} from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { fields, scalar } from './support/documents.js'
import { createOf, deleteOf, insertOf, noop, updateOf, uuid } from './support/log.js'

t.test('log entries survive encoding and decoding', async (t) => {
  const session = { lsid: encode({ id: 'x' }), txnNumber: 9_007_199_254_740_993n, stmtIds: [0] }
  const entries: LogEntry[] = [
    { ...insertOf('db.c', { _id: 1, a: 'x' }), session },
    {
      ...updateOf('db.c', { _id: 'y', a: 'x' }),
      session: { ...session, stmtIds: [1, 2] },
      prevOpTime: { ts: [4_000_000_000, 7], term: 3 },
    },
    { ...deleteOf('db.c', 7), preImage: encode({ _id: 7 }) },
    createOf('db.c', { capped: true }),
    { ...noop, ts: [4_000_000_000, 3_000_000_000] },
    { ...noop, term: uninitializedTerm },
    { ...insertOf('db.c', { _id: 1 }), term: 5_000_000_000 },
  ]
  for (const entry of entries) {
    const { preImage: _, ...durable } = entry
    t.same(plain(decodeLogEntry(encodeLogEntry(entry), () => undefined)), plain(durable))
  }
  t.same(Object.keys(decode(encodeLogEntry(entries[1]!))), [
    'lsid',
    'txnNumber',
    'op',
    'ns',
    'ui',
    'o',
    'o2',
    'stmtId',
    'ts',
    't',
    'v',
    'wall',
    'prevOpTime',
  ])
  t.equal(findField(encodeLogEntry(entries[5]!), 't'), undefined, 'the server leaves out the term of such entries')
  t.throws(() => decodeLogEntry(encode({ op: 'i' }), () => undefined), /not a log entry/)

  function plain(entry: LogEntry): unknown {
    return {
      ...entry,
      uuid: entry.uuid === null ? null : Buffer.from(entry.uuid).toString('hex'),
      object: decode(entry.object),
      id: entry.id === null ? null : [entry.id.type, Buffer.from(entry.id.slice()).toString('hex')],
      session: entry.session === null ? null : { ...entry.session, lsid: decode(entry.session.lsid) },
    }
  }
})

t.test('an update is logged as its difference, and decoded with the document that it changes', async (t) => {
  const entry: LogEntry = {
    ...updateOf('db.c', { _id: 1, a: 2 }),
    difference: encode({ u: { a: 2 } }),
    session: {
      ...{ lsid: encode({ id: 'x' }), txnNumber: 1n, stmtIds: [0] },
      image: { kind: 'postImage', document: encode({ _id: 1, a: 2 }) },
    },
  }
  const bytes = encodeLogEntry(entry)
  t.match(decode(bytes), { o: { $v: 2, diff: { u: { a: 2 } } }, o2: { _id: 1 } })
  const decoded = decodeLogEntry(bytes, (ns, id) =>
    ns === 'db.c' && id.asNumber() === 1 ? encode({ _id: 1, a: 1 }) : undefined,
  )
  t.same(decode(decoded.object), { _id: 1, a: 2 })
  t.same(decode(decoded.session!.image!.document), { _id: 1, a: 2 }, 'and so is the image for a retry')
  t.throws(() => decodeLogEntry(bytes, () => undefined), /changes a document that db\.c does not have/)
})

t.test('writePlainEntry and encodeLogEntry write the same bytes', async () => {
  const entry = fc.record({
    id: scalar,
    fields,
    op: fc.constantFrom('i', 'u', 'd', 'c'),
    delta: fc.boolean(),
    hasKey: fc.boolean(),
    ns: fc.constantFrom('db.c', 'dä.c', 'other.$cmd'),
  })
  check(
    fc.property(
      fc.array(entry, { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.nat({ max: 2 ** 32 - 1 }),
      (changes, wallMs, increment) => {
        for (const { id, fields: rest, op, ns, delta, hasKey } of changes) {
          const made =
            op === 'd'
              ? deleteOf(ns, id)
              : op === 'u'
                ? updateOf(ns, { _id: id, ...rest })
                : insertOf(ns, { _id: id, ...rest })
          const written: LogEntry = {
            ...made,
            op: op as LogEntry['op'],
            difference: op === 'u' && delta ? encode({ u: rest }) : null,
            wallMs: wallMs * 2 ** 15,
            term: increment >>> 1,
            ts: [increment, 2 ** 32 - 1 - increment],
            ...(hasKey && { o2: encode({ k: ns, _id: id }) }),
          }
          const expected = encodeLogEntry(written)
          const target = Buffer.alloc(expected.length + 7, 0xff)
          writePlainEntry(written, target, 3)
          if (plainEntryLength(written) !== expected.length || Buffer.compare(target.subarray(3, -4), expected) !== 0)
            return false
          if (target.readUInt32LE(expected.length + 3) !== 0xffff_ffff) return false
        }
        return true
      },
    ),
  )
})

t.test('the entries of a batch of inserts are those of single inserts', async (t) => {
  const documents = [{ _id: 1 }, { _id: 'two', a: 'x'.repeat(300) }, { _id: 3, b: [1, 2] }].map((document) =>
    encode(document),
  )
  const session = { lsid: encode({ id: 'a session' }), txnNumber: 7n, stmtIds: [4, 9, 2 ** 20] }
  const noKeys = null
  const someKeys: KeyOfInserted = (document) => (document.length < 100 ? encode({ k: document.length }) : null)
  for (const [each, keyOf] of [null, session].flatMap((each) =>
    [noKeys, someKeys].map((keyOf) => [each, keyOf] as const),
  )) {
    const common = { ns: 'db.c', uuid, term: 4, wallMs: 1_700_000_000_123 }
    const before = each === null ? {} : { prevOpTime: { ts: [4, 2] as const, term: 3 } }
    const together = encodeInsertEntries({ ...common, ...before, ts: [5, 9], session: each, keyOf }, documents, 3)
    const alone = documents.map((object, i) =>
      encodeLogEntry({
        ...common,
        op: 'i',
        ts: [5, 9 + i],
        object,
        id: null,
        o2: keyOf?.(object) ?? undefined,
        difference: null,
        session: each === null ? null : { ...each, stmtIds: [each.stmtIds[i]!] },
        ...(i === 0 ? before : { prevOpTime: { ts: [5, 9 + i - 1], term: 4 } }),
      }),
    )
    t.same(Buffer.from(together), Buffer.concat(alone))
    t.same(
      Buffer.from(encodeInsertEntries({ ...common, ...before, ts: [5, 9], session: each, keyOf }, documents, 2)),
      Buffer.concat(alone.slice(0, 2)),
    )
  }
})
