import { decode, encode, Timestamp, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { Chunks, ns } from './support/chunks.js'
import { documentsIn } from './support/config.js'
import { shape } from './support/config.js'

t.test('a split gives new minors, and the left part keeps its id', async (t) => {
  const chunks = await Chunks.make([0, 100])
  t.same(await chunks.lines(), ['min shard01 1|0', '0 shard02 1|1', '100 shard01 1|2'])
  const before = await chunks.at(50)
  t.equal(await chunks.split(50, [10, 20]), null)
  t.same(await chunks.lines(), [
    'min shard01 1|0',
    '0 shard02 1|3',
    '10 shard02 1|4',
    '20 shard02 1|5',
    '100 shard01 1|2',
  ])
  const [, left, middle] = await chunks.all()
  t.same(left!['_id'], before['_id'])
  t.notSame(middle!['_id'], before['_id'])
  for (const part of [left!, middle!]) t.same(part['history'], before['history'], 'the history goes along')
  t.match(await chunks.changelog('multi-split'), [
    {
      details: {
        before: { min: { a: 0 }, max: { a: 100 } },
        number: 1,
        of: 3,
        chunk: { max: { a: 10 } },
        owningShard: 'shard02',
      },
    },
    { details: { number: 2, chunk: { min: { a: 10 } } } },
    { details: { number: 3, chunk: { min: { a: 20 } } } },
  ])
  t.equal(await chunks.split(-5, [-5]), null)
  t.match(await chunks.changelog('split'), [
    {
      shard: 'config',
      ns,
      details: {
        before: { lastmod: { v: new Timestamp({ t: 1, i: 5 }) } },
        left: { max: { a: -5 } },
        right: { min: { a: -5 } },
      },
    },
  ])
  t.match(
    chunks.config.context.events.filter(({ type }) => type === 'split'),
    [
      { ns, shard: 'shard02', min: '{"a":0}', max: '{"a":100}', points: ['{"a":10}', '{"a":20}'] },
      { points: ['{"a":-5}'] },
    ],
  )
})

t.test('the changelog names the owner of split chunks since 5.0', async (t) => {
  for (const [version, names] of [
    ['4.4', false],
    ['5.0', true],
  ] as const) {
    const chunks = await Chunks.make([0, 100], undefined, version)
    t.equal(await chunks.split(50, [10]), null)
    const [entry] = await chunks.changelog('split')
    t.equal('owningShard' in (entry!['details'] as Document), names, version)
  }
})

t.test('refused splits change nothing', async (t) => {
  const chunks = await Chunks.make([0, 100])
  const before = await chunks.all()
  const cases: [name: string, work: Promise<Document | null>, error: Document][] = [
    [
      'outside',
      chunks.split(50, [200]),
      { code: 72, errmsg: 'Split key { a: 200 } not contained within chunk [{ a: 0 }, { a: 100 })' },
    ],
    ['below', chunks.split(50, [-200]), { code: 72 }],
    [
      'the lower bound',
      chunks.split(50, [0]),
      { code: 72, errmsg: 'Split on lower bound of chunk [{ a: 0 }, { a: 0 }] is not allowed' },
    ],
    [
      'descending',
      chunks.split(50, [20, 10]),
      {
        code: 72,
        errmsg:
          'Split keys must be specified in strictly increasing order. Key { a: 10 } was specified after { a: 20 }.',
      },
    ],
    ['twice', chunks.split(50, [20, 20]), { code: 72 }],
    [
      'a key that cannot be stored',
      chunks.split(500, [/x/]),
      { code: 2, errmsg: 'Shard key element a: /x/ is not valid for storage' },
    ],
    ['a document with $', chunks.split(500, [{ $x: 1 }]), { code: 2 }],
    [
      'another epoch',
      chunks.split(50, [20], { epoch: '0123456789abcdef01234567' }),
      { code: 150, codeName: 'StaleEpoch' },
    ],
    ['another shard', chunks.split(50, [20], { shard: 'shard03' }), { code: 2, errmsg: /expected chunk with range/ }],
    ['other bounds', chunks.split(50, [20], { max: { a: 90 } }), { code: 2 }],
    ['no such chunk', chunks.split(50, [20], { min: { a: 5 } }), { code: 105 }],
  ]
  for (const [name, work, error] of cases) t.match(await work, error, name)
  t.same(await chunks.all(), before)
  await chunks.config.send('config.commit-drop-collection', { ns })
  const { error } = await chunks.config.send('config.commit-chunk-split', {
    ns,
    generation: ['0123456789abcdef01234567', 1, 1],
    min: encode({ a: 0 }),
    max: encode({ a: 1 }),
    splitPoints: [],
    shard: 'shard01',
  })
  t.match(decode(error!), { code: 117 })
})

t.test('a merge gives one new minor, the first id and one history', async (t) => {
  const chunks = await Chunks.make([0, 10, 20], ['shard01'])
  await chunks.move(15, 'shard02')
  await chunks.move(15, 'shard01')
  t.same(await chunks.lines(), ['min shard01 2|1', '0 shard01 1|1', '10 shard01 3|0', '20 shard01 1|3'])
  const first = await chunks.at(0)
  const newest = ((await chunks.at(15))['history'] as Document[])[0]
  t.equal(await chunks.merge(0, 15), null)
  t.same(await chunks.lines(), ['min shard01 2|1', '0 shard01 3|1', '20 shard01 1|3'])
  const merged = await chunks.at(0)
  t.same(merged['_id'], first['_id'])
  t.same(merged['history'], [newest], 'since the newest of its parts came')
  t.same(merged['onCurrentShardSince'], newest!['validAfter'])
  t.match(await chunks.changelog('merge'), [
    {
      details: {
        mergedVersion: { v: new Timestamp({ t: 3, i: 1 }) },
        owningShard: 'shard01',
        min: { a: 0 },
        max: { a: 20 },
        numChunks: 2,
      },
    },
  ])
  t.match(
    chunks.config.context.events.filter(({ type }) => type === 'merge'),
    [{ ns, shard: 'shard01', chunks: 2 }],
  )
  const before = await chunks.all()
  t.equal(await chunks.merge(0, 0), null, 'one chunk is merged already')
  t.same(await chunks.all(), before)
})

t.test("a chunk merged before 7.0 is valid after the merge's own time", async (t) => {
  const chunks = await Chunks.make([0, 10], ['shard01'], '6.0')
  t.equal(await chunks.merge(0, 15), null)
  t.match((await chunks.at(0))['history'], [
    { validAfter: new Timestamp({ t: 2_000_000_000, i: 1 }), shard: 'shard01' },
  ])
  const [{ details }] = (await chunks.changelog('merge')) as [{ details: Document }]
  t.match(details, {
    merged: [{ min: { a: 0 } }, { min: { a: 10 } }],
    mergedVersion: { v: new Timestamp({ t: 1, i: 3 }) },
  })
})

t.test('refused merges change nothing, with codes in 2.6 too (D820)', async (t) => {
  const message =
    /^Failed to commit chunk merge :: caused by :: could not merge chunks, shard shard01 does not contain a sequence/
  for (const version of ['5.0', '8.0'] as const) {
    const chunks = await Chunks.make([0, 10, 20], ['shard01', 'shard01', 'shard02', 'shard01'], version)
    const before = await chunks.all()
    t.match(await chunks.merge(0, 10), { code: 20, errmsg: message }, 'not on the shard')
    t.match(await chunks.merge(0, 25), { code: 20, errmsg: message }, 'a hole')
    t.match(await chunks.merge(-5, 0, { epoch: '0123456789abcdef01234567' }), { code: 150 })
    t.same(await chunks.all(), before)
    t.equal(await chunks.merge(0, 0), null, 'a single chunk')
  }
  for (const version of ['2.6', '4.0', '4.4'] as const) {
    const chunks = await Chunks.make([0, 10, 20], ['shard01', 'shard01', 'shard02', 'shard01'], version)
    t.match(await chunks.merge(0, 0), {
      code: 20,
      errmsg: 'could not merge chunks, collection db.c already contains chunk for [{ a: 0 }, { a: 10 })',
    })
    t.match(await chunks.merge(0, 10), {
      code: 20,
      errmsg: 'could not merge chunks, collection db.c range ending at { a: 20 } does not belong to shard shard01',
    })
    t.match(await chunks.merge(0, 25), {
      code: 20,
      errmsg:
        'could not merge chunks, collection db.c has a hole in the range [{ a: 0 }, { a: MaxKey }) at [{ a: 10 }, { a: 20 })',
    })
    t.match(await chunks.merge(10, 10, { shard: 'shard03' }), {
      code: 20,
      errmsg: /range starting at { a: 10 } and ending at/,
    })
  }
})

t.test('a move gives the next major to the chunk, and minors to the rest and a control chunk', async (t) => {
  const chunks = await Chunks.make([0, 100], ['shard01'])
  const whole = await chunks.at(50)
  t.equal(await chunks.move(50, 'shard02', { min: { a: 20 }, max: { a: 30 } }), null)
  t.same(await chunks.lines(), [
    'min shard01 2|3',
    '0 shard01 2|1',
    '20 shard02 2|0',
    '30 shard01 2|2',
    '100 shard01 1|2',
  ])
  const moved = await chunks.at(25)
  t.same(moved['_id'], whole['_id'])
  t.match(moved['history'], [{ shard: 'shard02' }, { shard: 'shard01' }])
  t.same((await chunks.at(35))['history'], whole['history'])
  t.equal(await chunks.move(25, 'shard03'), null)
  t.same(
    (await chunks.lines()).filter((line) => line.includes('|0')),
    ['20 shard03 3|0'],
    'a donor that has given its last chunk has no control chunk',
  )
})

t.test('all mergeable chunks of a shard are merged in one request', async (t) => {
  const chunks = await Chunks.make(
    [0, 10, 20, 30, 40],
    ['shard01', 'shard01', 'shard01', 'shard02', 'shard01', 'shard01'],
  )
  const merge = async (chunksMax: number | null) =>
    (await chunks.config.send('config.commit-merge-all-chunks', { ns, shard: 'shard01', chunksMax })).chunksMerged
  t.equal(await merge(null), 0, 'what is that young may still be read where it was')
  chunks.config.context.nowMs += 301_000
  const before = await chunks.all()
  t.equal(await merge(2), 2)
  t.same((await chunks.lines()).slice(0, 2), ['min shard01 1|6', '10 shard01 1|2'], 'no more than that')
  t.equal(await merge(null), 4)
  t.same(await chunks.lines(), ['min shard01 1|7', '20 shard02 1|3', '30 shard01 1|8'])
  const [merged] = await chunks.all()
  t.notOk(
    before.some((chunk) => String(chunk['_id']) === String(merged!['_id'])),
    'a new id',
  )
  t.same(merged!['history'], before[0]!['history'])
  t.equal((await chunks.changelog('merge')).length, 3)
  const { error } = await chunks.config.send('config.commit-merge-all-chunks', {
    ns: 'db.none',
    shard: 'shard01',
    chunksMax: null,
  })
  t.match(decode(error!), { code: 117, errmsg: "Sharded collection 'db.none' no longer exists" })
})

t.test('the jumbo flag is set and cleared', async (t) => {
  const chunks = await Chunks.make([0, 10], ['shard01'])
  chunks.config.context.nowMs += 1_000_000
  const mark = async (value: number) => {
    const chunk = await chunks.at(value)
    await chunks.config.send('node.command', {
      db: 'config',
      body: encode({ update: 'chunks', updates: [{ q: { _id: chunk['_id'] }, u: { $set: { jumbo: true } } }] }),
      sequences: [],
      shardVersion: null,
      databaseVersion: null,
      stmtIds: null,
      clusterTime: [1, 1],
      operationKey: 0,
      batchBytesMax: 0,
    })
  }
  const clear = async (min: unknown, max: unknown, epoch?: string) => {
    const { error } = await chunks.config.send('config.clear-jumbo-flag', {
      ns,
      epoch: epoch ?? (await chunks.generation())[0],
      min: encode({ a: min }),
      max: encode({ a: max }),
    })
    return error === null ? null : decode(error)
  }
  await mark(5)
  t.equal(
    (await chunks.config.send('config.commit-merge-all-chunks', { ns, shard: 'shard01', chunksMax: null }))
      .chunksMerged,
    0,
    'it is merged with none',
  )
  t.match(await clear(0, 10, '0123456789abcdef01234567'), { code: 150 })
  t.match(await clear(0, 20), { code: 51262, errmsg: 'Unable to locate chunk [{ a: 0 }, { a: 20 }) from ns: db.c' })
  t.equal(await clear(0, 10), null)
  t.same(await chunks.lines(), ['min shard01 1|0', '0 shard01 2|0', '10 shard01 1|2'], 'a new major')
  t.notOk('jumbo' in (await chunks.at(5)))
  t.equal(await clear(0, 10), null, 'again: nothing')
  t.same(await chunks.lines(), ['min shard01 1|0', '0 shard01 2|0', '10 shard01 1|2'])
  await mark(5)
  t.equal(await chunks.split(5, [7]), null)
  for (const chunk of await chunks.all()) t.not(chunk['jumbo'], true, 'a split takes it away')
})

t.test('splits and moves write documents in the shape of the version', async (t) => {
  const bounds = 'min:{a:int} max:{a:int} shard:string'
  const history = 'history:[0:{validAfter:timestamp shard:string}]'
  const moved = 'history:[0:{validAfter:timestamp shard:string} 1:{validAfter:timestamp shard:string}]'
  const expected: [EmulatedVersion, split: string, moved: string, control: string][] = [
    ['2.6', `_id:string lastmod:timestamp lastmodEpoch:objectId ns:string ${bounds}`, '', ''],
    ['4.0', `_id:string lastmod:timestamp lastmodEpoch:objectId ns:string ${bounds} ${history}`, '', ''],
    [
      '4.4',
      `_id:objectId lastmod:timestamp lastmodEpoch:objectId ns:string ${bounds} ${history}`,
      'history',
      `${bounds} jumbo:bool`,
    ],
    ['5.0', `_id:objectId uuid:binData ${bounds} lastmod:timestamp ${history}`, moved, ''],
    [
      '7.0',
      `_id:objectId uuid:binData ${bounds} lastmod:timestamp jumbo:bool onCurrentShardSince:timestamp ${history}`,
      moved,
      '',
    ],
  ]
  for (const [version, splitShape, movedPart, controlPart] of expected) {
    const chunks = await Chunks.make([0, 100], ['shard01'], version)
    t.equal(await chunks.split(50, [20, 30]), null)
    const find = async (value: number) => {
      const { _id } = await chunks.at(value)
      return (await chunks.config.raw('chunks')).find((document) => String(decode(document)['_id']) === String(_id))!
    }
    t.equal(shape(await find(25)), splitShape, version)
    if (version === '2.6' || version === '4.0') t.equal((await chunks.at(25))['_id'], 'db.c-a_20')
    t.equal(await chunks.move(25, 'shard02'), null)
    t.ok(shape(await find(25)).includes(movedPart), `${version} moved`)
    t.ok(
      shape(await find(-25))
        .replaceAll(/minKey|maxKey/g, 'int')
        .includes(controlPart),
      `${version} control`,
    )
  }
})

t.test('chunks are found without the indexes of config.chunks, which clients may drop', async (t) => {
  const play = async (chunks: Chunks) => [
    await chunks.split(50, [10, 20]),
    await chunks.move(15, 'shard01'),
    await chunks.move(0, 'shard03', { min: { a: 2 }, max: { a: 5 } }),
    await chunks.merge(20, 50),
    documentsIn(
      await chunks.config.send('config.get-collection', { ns, since: [...(await chunks.generation()), 1, 4] }),
    ).length,
    await chunks.lines(),
  ]
  const indexed = await Chunks.make([0, 100])
  const bare = await Chunks.make([0, 100])
  const body = encode({ dropIndexes: 'chunks', index: '*', $db: 'config' })
  const reply = await bare.config.send('client.command', {
    connectionId: 1,
    body,
    sequences: [],
    legacy: false,
    remote: '',
  })
  t.match(decode(reply.body), { ok: 1 })
  t.same(await play(bare), await play(indexed))
})

t.test('a chunk corrupted by a client is ignored', async (t) => {
  const spoils: [name: string, change: Document][] = [
    ['a bound of another type', { $set: { min: 1 } }],
    ['an upper bound of another type', { $set: { max: [{ a: 100 }] } }],
    ['no shard', { $unset: { shard: 1 } }],
    ['a version of another type', { $set: { lastmod: new Date(0) } }],
  ]
  for (const version of ['4.4', '7.0'] as const)
    for (const [name, u] of spoils) {
      const chunks = await Chunks.make([0, 100], undefined, version)
      const { config } = chunks
      const mins = async () => {
        const found = documentsIn(await config.send('config.get-collection', { ns, since: null }))
        return found.map((chunk) => (decode(chunk)['min'] as Document)['a']).filter((a) => typeof a === 'number')
      }
      const found = async (a: number) => {
        const { chunk } = await config.send('config.find-chunk', { ns, key: encode({ a }) })
        return chunk === null ? null : decode(chunk)['min']
      }
      t.same([await mins(), await found(50)], [[0, 100], { a: 0 }])
      const { _id } = await chunks.at(0)
      const update = { update: 'chunks', updates: [{ q: { _id }, u }], $db: 'config' }
      const request = { connectionId: 1, body: encode(update), sequences: [], legacy: false, remote: '' }
      t.match(decode((await config.send('client.command', request)).body), { ok: 1, nModified: 1 }, name)
      t.same([await mins(), await found(50), await found(150)], [[100], null, { a: 100 }], `${version}: ${name}`)
    }
})
