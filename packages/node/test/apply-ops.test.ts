import { UUID, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const admin = { db: 'admin' }
const atomicVersions: readonly EmulatedVersion[] = ['4.0', '4.4', '5.0', '6.0.2', '6.0']
const newVersions: readonly EmulatedVersion[] = ['7.0', '8.0']
const ns = 'test.c'

async function nodeWith(version: EmulatedVersion, documents: Document[] = []): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({ create: 'c' })
  if (documents.length > 0) await node.ok({ insert: 'c', documents })
  return node
}

const apply = (node: NodeUnderTest, applyOps: unknown, more: Document = {}) => node.run({ applyOps, ...more }, admin)

t.test('applyOps inserts, replaces and deletes documents by _id, and skips no-ops', async (t) => {
  for (const version of ['2.6', ...atomicVersions, ...newVersions] as const) {
    const node = await nodeWith(version, [{ _id: 1 }, { _id: 2, x: 1 }])
    const reply = await apply(node, [
      { op: 'n', ns: '', o: {} },
      { op: 'i', ns, o: { _id: 3, a: 1 } },
      { op: 'i', ns, o: { _id: 3, a: 2 } },
      { op: 'u', ns, o2: { _id: 2 }, o: { _id: 2, x: 2 } },
      { op: 'd', ns, o: { _id: 1 } },
      { op: 'd', ns, o: { _id: 9 } },
    ])
    t.same(reply, { applied: 5, results: [true, true, true, true, true], ok: 1 }, version)
    t.same(
      await node.all('c'),
      [
        { _id: 2, x: 2 },
        { _id: 3, a: 2 },
      ],
      version,
    )
    t.same(
      await node.restarted().all('c'),
      [
        { _id: 2, x: 2 },
        { _id: 3, a: 2 },
      ],
      version,
    )
  }
})

t.test('each version of applyOps reads its own form of updates', async (t) => {
  const modifiers = [{ op: 'u', ns, o2: { _id: 1 }, o: { $v: 1, $set: { x: 2 } } }]
  const delta = [{ op: 'u', ns, o2: { _id: 1 }, o: { $v: 2, diff: { u: { x: 3 } } } }]
  for (const version of ['2.6', '4.0', '4.4', '5.0', '6.0.2', '6.0'] as const) {
    const node = await nodeWith(version, [{ _id: 1, x: 1 }])
    t.match(await apply(node, modifiers), { ok: 1, results: [true] }, version)
    t.same(await node.all('c'), [{ _id: 1, x: 2 }], version)
  }
  for (const version of ['5.0', '6.0.2', '6.0', '7.0', '8.0'] as const) {
    const node = await nodeWith(version, [{ _id: 1, x: 1 }])
    t.match(await apply(node, delta), { ok: 1, results: [true] }, version)
    t.same(await node.all('c'), [{ _id: 1, x: 3 }], version)
  }
  for (const version of ['5.0', '6.0.2', '6.0'] as const)
    t.match(
      await apply(await nodeWith(version, [{ _id: 1, x: 1 }]), [{ op: 'u', ns, o2: { _id: 1 }, o: { $v: 3 } }]),
      { ok: 0, code: 4772600, errmsg: 'Expected _id field or $v field missing or $v:1/$v:2, but got: $v: 3' },
      version,
    )
  for (const version of ['7.0', '8.0'] as const) {
    const node = await nodeWith(version, [{ _id: 1, x: 1 }])
    t.match(
      await apply(node, modifiers),
      { ok: 0, code: 4772600, errmsg: 'Expected _id field or $v:2, but got: $v: 1', applied: 1, results: [false] },
      version,
    )
    t.match(await apply(node, [{ op: 'u', ns, o2: { _id: 1 }, o: { $v: 2 } }]), { ok: 0, code: 4772601 }, version)
    t.same(await node.all('c'), [{ _id: 1, x: 1 }], version)
  }
})

t.test('a difference changes fields and elements, and may be applied again', async (t) => {
  const node = await nodeWith('7.0', [{ _id: 1, a: 1, b: 2, in: { x: 1, y: 2 }, list: [1, { z: 1 }, 3] }])
  const diff = {
    d: { a: false },
    u: { b: 3 },
    i: { c: 4 },
    sin: { d: { x: false }, i: { w: 5 } },
    slist: { a: true, l: 2, u0: 9, s1: { u: { z: 2 } } },
    snone: { u: { q: 1 } },
  }
  for (let i = 0; i < 2; i++) {
    t.match(await apply(node, [{ op: 'u', ns, o2: { _id: 1 }, o: { $v: 2, diff } }]), { ok: 1, results: [true] })
    t.same(await node.all('c'), [{ _id: 1, b: 3, in: { y: 2, w: 5 }, list: [9, { z: 2 }], c: 4 }])
  }
  const longer = { $v: 2, diff: { slist: { a: true, l: 4, u3: 'x' } } }
  t.match(await apply(node, [{ op: 'u', ns, o2: { _id: 1 }, o: longer }]), { ok: 1 })
  t.match(await node.all('c'), [{ list: [9, { z: 2 }, null, 'x'] }])
})

t.test('a malformed difference is refused and changes nothing', async (t) => {
  const before = [{ _id: 1, a: 1, list: [1] }]
  for (const [diff, code] of [
    [{}, 4770500],
    [{ slist: { a: true, s0: 1 } }, 4770501],
    [{ slist: { a: true, x0: 1 } }, 4770502],
    [{ u: { a: 2 }, d: { a: false } }, 4770503],
    [{ x: { a: 2 } }, 4770503],
    [{ u: 1 }, 4770507],
    [{ slist: { a: true, l: 'x' } }, 4770507],
    [{ slist: { a: true, ux: 1 } }, 4770512],
    [{ slist: { a: 1 } }, 4770519],
    [{ slist: { a: false } }, 4770520],
    [{ slist: { a: true, u: 1 } }, 4770521],
  ] as const) {
    const node = await nodeWith('7.0', before)
    const operation = { op: 'u', ns, o2: { _id: 1 }, o: { $v: 2, diff } }
    t.match(await apply(node, [operation]), { ok: 0, code, applied: 1, results: [false] }, JSON.stringify(diff))
    t.same(await node.all('c'), before)
  }
})

t.test('until 6.0 writes of applyOps take effect together or not at all', async (t) => {
  for (const version of atomicVersions) {
    const node = await nodeWith(version, [{ _id: 1, x: 1 }, { _id: 2 }])
    const operations = [
      { op: 'u', ns, o2: { _id: 1 }, o: { _id: 1, x: 2 } },
      { op: 'i', ns, o: { _id: 3 } },
      { op: 'd', ns, o: { _id: 2 } },
      { op: 'u', ns, o2: { _id: 9 }, o: { _id: 9, x: 1 } },
    ]
    const refused = await apply(node, operations, { alwaysUpsert: false })
    t.match(
      refused,
      { ok: 0, code: 218, codeName: 'UpdateOperationFailed', applied: 4, results: [false, false, false, false] },
      version,
    )
    t.match(refused['errmsg'], version === '4.0' ? /^update of non-mod failed: \{ op/ : /^Update of non-mod failed: /)
    t.same(await node.all('c'), [{ _id: 1, x: 1 }, { _id: 2 }], version)
    t.same(await node.restarted().all('c'), [{ _id: 1, x: 1 }, { _id: 2 }], version)
    t.match(await apply(node, operations, { alwaysUpsert: false, allowAtomic: false }), {
      ok: 0,
      code: 8,
      errmsg: 'applyOps had one or more errors applying ops',
      applied: 4,
      results: [true, true, true, false],
    })
    t.same(await node.all('c'), [{ _id: 1, x: 2 }, { _id: 3 }], version)
    t.match(await apply(node, operations), { ok: 1, results: [true, true, true, true] }, 'updates become upserts')
  }
})

t.test('since 6.2 each operation of applyOps takes effect on its own, and updates are no upserts', async (t) => {
  for (const version of newVersions) {
    const node = await nodeWith(version, [{ _id: 1, x: 1 }])
    const operations = [
      { op: 'u', ns, o2: { _id: 1 }, o: { $v: 2, diff: { u: { x: 2 } } } },
      { op: 'u', ns, o2: { _id: 3 }, o: { $v: 2, diff: { u: { x: 2 } } } },
      { op: 'u', ns, o2: { _id: 4 }, o: { $v: 2, diff: { u: { x: 2 } } }, b: true },
    ]
    t.match(await apply(node, operations, { alwaysUpsert: false }), {
      ok: 0,
      code: 8,
      codeName: 'UnknownError',
      applied: 3,
      results: [true, false, true],
    })
    t.same(
      await node.all('c'),
      [
        { _id: 1, x: 2 },
        { _id: 4, x: 2 },
      ],
      version,
    )
    t.match(await apply(node, operations, { alwaysUpsert: true }), {
      code: 6711601,
      errmsg:
        /^Failed to parse applyOps command: \{ applyOps.* :: caused by :: applyOps command no longer supports the 'alwaysUpsert' option$/s,
    })
    t.match(await apply(node, [], { preCondition: [] }), { code: 6711600 }, version)
    t.match(await apply(node, [], { prepare: false }), { code: 2 }, version)
    t.match(await apply(node, [], { partialTxn: false }), { code: 31056 }, version)
    t.match(await apply(node, [], { count: 1 }), { code: 31240 }, version)
    t.match(await apply(node, [], { count: true }), { code: 14 }, version)
    t.match(await apply(node, [], { alwaysUpsert: 1 }), { code: 14 }, version)
  }
})

t.test('operations stop at an error that is no failed write', async (t) => {
  for (const version of newVersions) {
    const node = await nodeWith(version)
    const reply = await apply(node, [
      { op: 'i', ns, o: { _id: 1 } },
      { op: 'i', ns: 'test.none', o: { _id: 1 } },
      { op: 'i', ns, o: { _id: 2 } },
    ])
    t.match(reply, {
      ok: 0,
      code: 26,
      codeName: 'NamespaceNotFound',
      errmsg:
        'cannot apply insert or update operation on a non-existent namespace test.none: { op: "i", ns: "test.none", o: { _id: 1 } }',
      applied: 2,
      results: [true, false],
    })
    t.same(await node.all('c'), [{ _id: 1 }], version)
    t.match(await apply(node, [{ op: 'd', ns: 'test.none', o: { _id: 1 } }]), { ok: 1, results: [true] })
    t.match(await apply(node, [{ op: 'i', ns, o: { a: 1 } }]), {
      code: 4,
      errmsg: /^Failed to apply insert due to missing _id: \{ oplogEntry: \{ op: "i"/,
    })
    t.match(await apply(node, [{ op: 'u', ns, o: { _id: 1 } }]), { code: 4, errmsg: /^Failed to apply update due to/ })
    t.match(await apply(node, [{ op: 'd', ns, o: { a: 1 } }]), { code: 4, errmsg: /^Failed to apply delete due to/ })
  }
})

t.test('the arguments of applyOps are checked before the first operation', async (t) => {
  const valid = { op: 'i', ns, o: { _id: 1 } }
  for (const version of ['4.0', '4.4', '7.0', '8.0'] as const) {
    const node = await nodeWith(version)
    for (const [operations, code, errmsg] of [
      ['x', 14, "Wrong type for 'applyOps'. Expected a array, got a string."],
      [[valid, 1], 14, "Wrong type for '1'. Expected a object, got a int."],
      [[valid, { ns }], 4, "Wrong type for ''. Expected a string, got a missing."],
      [[valid, { op: 1, ns }], 14, "Wrong type for 'op'. Expected a string, got a int."],
      [[valid, { op: '', ns }], 20, '"op" field value cannot be empty: 1'],
      [[valid, { op: 'i' }], 20, 'op does not contain required "ns" field: 1'],
      [[valid, { op: 'i', ns: 1 }], 20, '"ns" field is not a string: 1'],
      [[valid, { op: 'i', ns: '' }], 20, '"ns" field value cannot be empty when op type is not \'n\': 1'],
      [[valid, { op: 'i', ns: 'a\0b' }], 20, 'namespaces cannot have embedded null characters'],
      [[valid, { op: 'c', ns }], 4, "Wrong type for ''. Expected a object, got a missing."],
      [[valid, { op: 'c', ns, o: 1 }], 14, "Wrong type for 'o'. Expected a object, got a int."],
    ] as const)
      t.match(await apply(node, operations), { ok: 0, code, errmsg }, `${version} ${errmsg}`)
    let nested: Document = { applyOps: [valid] }
    for (let i = 0; i < 11; i++) nested = { applyOps: [{ op: 'c', ns: 'admin.$cmd', o: nested }] }
    t.match(await node.run(nested, admin), { code: 9, errmsg: 'Too many nested applyOps' }, version)
    t.same(await node.all('c'), [], version)
    t.same(await apply(node, []), { applied: 0, results: [], ok: 1 }, version)
    t.match(await apply(node, [{ op: 'i', ns: 'x', o: { _id: 1 } }]), { code: 73, errmsg: 'invalid ns: x' }, version)
  }
})

t.test('operations are parsed as oplog entries since 4.4', async (t) => {
  for (const version of ['4.4', '7.0', '8.0'] as const) {
    const node = await nodeWith(version)
    for (const [operation, code, errmsg] of [
      [{ op: 'x', ns, o: {} }, 2, "Enumeration value 'x' for field 'OplogEntryBase.op' is not a valid value."],
      [{ op: 'i', ns }, 40414, "BSON field 'OplogEntryBase.o' is missing but a required field"],
      [{ op: 'i', ns, o: [] }, 14, "BSON field 'OplogEntryBase.o' is the wrong type 'array', expected type 'object'"],
      [{ op: 'c', ns, o: { foo: 1 } }, 2, 'Unknown oplog entry command type: foo Object field: { foo: 1 }'],
    ] as const)
      t.match(await apply(node, [operation]), { ok: 0, code, errmsg, applied: 1, results: [false] }, version)
  }
  const older = await nodeWith('4.0')
  t.match(await apply(older, [{ op: 'x', ns, o: {} }]), { code: 14825, results: [false] })
  t.match(await apply(older, [{ op: 'c', ns: 'test.$cmd', o: { foo: 1 } }]), {
    code: 2,
    errmsg: "Invalid key 'foo' found in field 'o'",
  })
})

t.test('applyOps runs the commands of an oplog', async (t) => {
  for (const version of ['4.0', '4.4', '6.0', '7.0', '8.0'] as const) {
    const node = await nodeWith(version)
    const uuid = new UUID(Buffer.alloc(16, 7))
    const command = (o: Document, more: Document = {}) => ({ op: 'c', ns: 'test.$cmd', o, ...more })
    t.match(await apply(node, [command({ create: 'd' }, { ui: uuid })]), { ok: 1, results: [true] }, version)
    const listed = async () =>
      ((await node.ok({ listCollections: 1 }))['cursor'] as { firstBatch: Document[] }).firstBatch
    t.match(
      (await listed()).find(({ name }) => name === 'd'),
      { info: { uuid } },
      version,
    )
    t.match(await apply(node, [command({ create: 'd' }, { ui: uuid })]), { ok: 1 }, 'it may exist')
    t.match(await apply(node, [command({ create: 'e' }, { ui: uuid })]), { ok: 1 }, 'the UUID gets another name')
    t.same((await listed()).map(({ name }) => name).sort(), ['c', 'e'], version)
    t.match(await apply(node, [command({ collMod: 'e', validator: { a: 1 } })]), { ok: 1 }, version)
    t.match(await apply(node, [command({ renameCollection: 'test.e', to: 'test.f' })]), { ok: 1 }, version)
    t.match(await apply(node, [command({ drop: 'none' })]), { ok: 1 }, 'a missing collection is no error')
    t.match(await apply(node, [command({ drop: 'x' }, { ui: uuid })]), { ok: 1 }, 'the UUID names the collection')
    t.same(
      (await listed()).map(({ name }) => name),
      ['c'],
      version,
    )
    t.match(await apply(node, [command({ applyOps: [{ op: 'i', ns, o: { _id: 1 } }] })]), { ok: 1 }, version)
    t.same(await node.all('c'), [{ _id: 1 }], version)
    t.match(await apply(node, [command({ dropDatabase: 1 }), { op: 'n', ns: '', o: {} }]), {
      ok: version === '4.0' ? 1 : 0,
    })
    t.match(await apply(node, [command({ dropDatabase: 1 })]), { ok: 1, results: [true] }, version)
    t.same(await listed(), [], version)
  }
})

t.test('applyOps builds indexes until 4.2', async (t) => {
  const entry = { createIndexes: 'c', v: 2, key: { a: 1 }, name: 'a_1' }
  const operations = [{ op: 'c', ns: 'test.$cmd', o: entry }]
  const inserts = [{ op: 'i', ns: 'test.system.indexes', o: { ns, key: { b: 1 }, name: 'b_1' } }]
  const older = await nodeWith('4.0')
  t.match(await apply(older, operations), { ok: 1, results: [true] })
  t.match(await apply(older, inserts), { ok: 1, results: [true] })
  t.match(await older.ok({ listIndexes: 'c' }), {
    cursor: { firstBatch: [{ name: '_id_' }, { name: 'a_1', v: 2 }, { name: 'b_1', v: 1 }] },
  })
  t.match(await apply(older, [{ op: 'i', ns: 'test.system.indexes', o: { ns: 'other.c' } }]), { code: 73 })
  for (const version of ['4.4', '7.0', '8.0'] as const) {
    const node = await nodeWith(version)
    t.match(await apply(node, operations), {
      code: 115,
      errmsg: 'The createIndexes operation is not supported in applyOps mode',
      applied: 1,
      results: [false],
    })
    t.match(await apply(node, inserts), { code: 26 }, version)
  }
})

t.test('preCondition stops applyOps until 6.0', async (t) => {
  for (const version of ['2.6', ...atomicVersions] as const) {
    const node = await nodeWith(version, [{ _id: 1, x: 1 }])
    const operations = [{ op: 'u', ns, o2: { _id: 1 }, o: { _id: 1, x: 2 } }]
    const when = (res: Document, q: Document = { _id: 1 }) => ({ preCondition: [{ ns, q, res }] })
    const refused = await apply(node, operations, when({ x: 2 }))
    t.match(refused, { ok: 0, got: { _id: 1, x: 1 }, whatFailed: { ns, q: { _id: 1 }, res: { x: 2 } } }, version)
    t.equal(refused['errmsg'], version === '2.6' ? 'pre-condition failed' : 'preCondition failed')
    t.equal(refused['code'], version === '2.6' ? undefined : 2)
    t.same(await node.all('c'), [{ _id: 1, x: 1 }], version)
    t.match(await apply(node, operations, when({ x: 1 }, { query: { _id: 1 } })), { ok: 1, results: [true] }, version)
    if (version === '2.6') continue
    t.match(await apply(node, operations, { ...when({}), allowAtomic: false }), { code: 72 }, version)
    t.match(await apply(node, [{ op: 'c', ns: 'test.$cmd', o: { drop: 'c' } }], when({})), { code: 72 }, version)
    t.match(await apply(node, operations, { preCondition: [{ ns: 'test.none', q: {}, res: {} }] }), {
      code: 26,
      errmsg: 'collection in ns does not exist: test.none',
    })
  }
})

t.test('a UUID names the collection until 6.0, and must match the name since', async (t) => {
  for (const version of [...atomicVersions, ...newVersions]) {
    const node = await nodeWith(version)
    await node.ok({ create: 'other' })
    const { firstBatch } = (await node.ok({ listCollections: 1, filter: { name: 'other' } }))['cursor'] as {
      firstBatch: { info: { uuid: UUID } }[]
    }
    const ui = firstBatch[0]!.info.uuid
    const reply = await apply(node, [{ op: 'i', ns, ui, o: { _id: 1 } }])
    const isNew = newVersions.includes(version)
    t.match(reply, isNew ? { ok: 0, code: 8, applied: 1, results: [false] } : { ok: 1, results: [true] }, version)
    t.same(await node.all('other'), isNew ? [] : [{ _id: 1 }], version)
    t.same(await node.all('c'), [], version)
  }
})

t.test('documents of applyOps are validated unless the command bypasses it', async (t) => {
  const node = await nodeWith('7.0')
  await node.ok({ collMod: 'c', validator: { a: 1 } })
  const operations = [{ op: 'i', ns, o: { _id: 1, a: 2 } }]
  t.match(await apply(node, operations), { ok: 0, code: 8, applied: 1, results: [false] })
  t.match(await apply(node, operations, { bypassDocumentValidation: true }), { ok: 1, results: [true] })
})

t.test('applyOps of 2.6 creates collections, and ignores errors of commands', async (t) => {
  const node = new NodeUnderTest({ version: '2.6' })
  t.match(await apply(node, [{ op: 'i', ns, o: { _id: 1 } }]), { ok: 1, applied: 1, results: [true] })
  t.match(await apply(node, [{ op: 'c', ns: 'test.$cmd', o: { drop: 'none' } }]), { ok: 1, results: [true] })
  t.match(await apply(node, [{ op: 'c', ns: 'test.$cmd', o: { drop: 'c' } }]), { ok: 1, results: [true] })
  t.same(await node.all('c'), [])
  const refused = await apply(node, 'x')
  t.match(refused, { ok: 0, errmsg: 'ops has to be an array' })
  t.notOk('code' in refused)
})
