import { decode, encode, type Document, type Timestamp } from '@shardlab/bson'
import { clusterAddress, type RequestOf } from '@shardlab/actor'
import { FakeDisk } from '@shardlab/actor/testing'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { Chunks, ns } from './support/chunks.js'
import { documentsIn } from './support/config.js'

type Move = RequestOf<'config.move-range'>

async function ask(chunks: Chunks, over: Partial<Move> = {}): Promise<Document | null> {
  const request = {
    ns,
    min: encode({ a: 0 }),
    max: encode({ a: 100 }),
    to: 'shard01',
    forceJumbo: false,
    waitForDelete: false,
    secondaryThrottle: null,
    ...over,
  }
  const { error } = await chunks.config.send('config.move-range', request)
  return error === null ? null : decode(error)
}

function donors(chunks: Chunks): [to: string, request: RequestOf<'shard.move-range'>][] {
  const asked: [string, RequestOf<'shard.move-range'>][] = []
  chunks.config.answers.set('shard.move-range', (to, request) => {
    asked.push([to, request])
    return { error: null }
  })
  return asked
}

t.test('a move is requested from the owner of the range, with the chunk size', async (t) => {
  const chunks = await Chunks.make([0, 100])
  const asked = donors(chunks)
  t.equal(await ask(chunks), null)
  t.equal(await ask(chunks, { min: null, max: encode({ a: 100 }), forceJumbo: true }), null, 'an upper end alone')
  t.match(asked, [
    ['shard02', { ns, to: 'shard01', maxChunkSizeBytes: 134217728, forceJumbo: false, waitForDelete: false }],
    ['shard02', { min: null, forceJumbo: true }],
  ])
  t.same(decode(asked[1]![1].chunkMin), { a: 0 })
  t.equal(await ask(chunks, { to: 'shard02' }), null, 'it is there already')
  t.equal(asked.length, 2, 'so no shard gets a request')
})

t.test('invalid moves are refused without a request', async (t) => {
  const chunks = await Chunks.make([0, 100])
  const asked = donors(chunks)
  t.match(await ask(chunks, { to: 'shard09' }), { code: 70, errmsg: 'Shard shard09 not found' })
  t.match(await ask(chunks, { ns: 'db.other' }), { code: 26 })
  await chunks.config.send('config.set-allow-migrations', { ns, allowMigrations: false })
  t.match(await ask(chunks), { code: 117, errmsg: 'Collection is undergoing changes so moveChunk is not allowed.' })
  t.same(asked, [])
})

t.test('until 5.0 moves respect zones and draining shards', async (t) => {
  const cases: readonly [EmulatedVersion, number | undefined][] = [
    ['2.6', undefined],
    ['4.0', 20],
    ['5.0', 20],
    ['6.0.2', undefined],
    ['8.0', undefined],
  ]
  for (const [version, code] of cases) {
    const chunks = await Chunks.make([0, 100], ['shard01', 'shard02'], version)
    donors(chunks)
    const document = encode({ _id: `${ns}-a_0.0`, ns, min: { a: 0 }, max: { a: 100 }, tag: 'south' })
    await chunks.config.send('node.command', {
      db: 'config',
      body: encode({ insert: 'tags' }),
      sequences: [['documents', [document]]],
      shardVersion: null,
      databaseVersion: null,
      stmtIds: null,
      clusterTime: [1, 1],
      operationKey: 0,
      batchBytesMax: 0,
    })
    t.equal((await ask(chunks))?.['code'], code, version)
  }
})

t.test('an error after the commit does not fail the move', async (t) => {
  const chunks = await Chunks.make([0, 100])
  chunks.config.answers.set('shard.move-range', async () => {
    t.equal(await chunks.move(0, 'shard01'), null)
    return { error: encode({ ok: 0, errmsg: 'too late', code: 11601, codeName: 'Interrupted' }) }
  })
  t.equal(await ask(chunks), null)
})

t.test('refused commits change nothing', async (t) => {
  const chunks = await Chunks.make([0, 100])
  const before = await chunks.all()
  const [epoch, seconds, increment] = await chunks.generation()
  const commit = async (over: Partial<RequestOf<'config.commit-chunk-migration'>>) => {
    const { error } = await chunks.config.send('config.commit-chunk-migration', {
      ns,
      min: encode({ a: 0 }),
      max: encode({ a: 100 }),
      from: 'shard02',
      to: 'shard01',
      chunkVersion: [epoch, seconds, increment, 1, 1],
      clusterTime: [0, 0],
      plannedAt: [0, 0],
      ...over,
    })
    return error === null ? null : decode(error)
  }
  t.match(await commit({ to: 'shard09' }), { code: 70, errmsg: 'Shard shard09 does not exist' })
  t.match(await commit({ ns: 'db.other' }), { code: 117, errmsg: 'Collection does not exist' })
  t.match(await commit({ chunkVersion: ['0123456789abcdef01234567', seconds, increment, 1, 1] }), {
    code: 150,
    codeName: 'StaleEpoch',
  })
  t.match(await commit({ max: encode({ a: 200 }) }), { code: 40165 })
  t.match(await commit({ from: 'shard03', to: 'shard01' }), { code: 4914702 })
  t.match(await commit({ chunkVersion: [epoch, seconds, increment, 1, 0] }), {
    code: 117,
    errmsg: /is older than the version of the current chunk/,
  })
  t.same(await chunks.all(), before)
  t.equal(await commit({}), null)
  const after = await chunks.lines()
  t.same(after, ['min shard01 1|0', '0 shard01 2|0', '100 shard01 1|2'])
  t.equal(await commit({}), null, 'once more: it has been done')
  t.same(await chunks.lines(), after)
})

t.test('a commit finds a chunk that was changed since its move was requested', async (t) => {
  const meanwhile: Readonly<Record<string, (chunks: Chunks) => Promise<unknown>>> = {
    nothing: () => Promise.resolve(),
    'it was split behind the range': (chunks) => chunks.split(50, [50]),
    'it was split and merged again': async (chunks) => [await chunks.split(50, [50]), await chunks.merge(0, 50)],
    'it was moved away': (chunks) => chunks.move(50, 'shard03'),
    'it was moved away and back': async (chunks) => [
      await chunks.move(50, 'shard03'),
      await chunks.move(50, 'shard02'),
    ],
    'a part of it was moved': (chunks) => chunks.move(50, 'shard03', { min: { a: 0 }, max: { a: 50 } }),
    'another one was moved': (chunks) => chunks.move(200, 'shard03'),
    'the collection is another one': async ({ config }) => [
      await config.send('config.commit-drop-collection', { ns }),
      await config.createCollection(ns, [0, 40], ['shard01', 'shard02'], Buffer.alloc(16, 7)),
    ],
  }
  for (const [what, happens] of Object.entries(meanwhile)) {
    const outcomes: unknown[] = []
    for (const isAsked of [true, false]) {
      const chunks = await Chunks.make([0, 100], ['shard01', 'shard02'])
      const commit = async () => {
        await happens(chunks)
        const { error } = await chunks.config.send('config.commit-chunk-migration', {
          ns,
          min: encode({ a: 0 }),
          max: encode({ a: 100 }),
          from: 'shard02',
          to: 'shard01',
          chunkVersion: [...(await chunks.generation()), 9, 0],
          clusterTime: [0, 0],
          plannedAt: [0, 0],
        })
        outcomes.push([error === null ? null : decode(error)['code'], await chunks.lines()])
        return { error: null }
      }
      if (isAsked) {
        chunks.config.answers.set('shard.move-range', commit)
        await ask(chunks)
      } else await commit()
    }
    t.same(outcomes[0], outcomes[1], what)
  }
})

t.test('a delayed commit is refused after the donor has asked for the outcome', async (t) => {
  const chunks = await Chunks.make([0, 100], ['shard01', 'shard02', 'shard03'])
  const [epoch, seconds, increment] = await chunks.generation()
  const version = [epoch, seconds, increment, 1, 1] as const
  const ensure = () =>
    chunks.config.send('config.ensure-chunk-version-is-greater-than', {
      ns,
      uuid: Buffer.alloc(16),
      min: encode({ a: 0 }),
      max: encode({ a: 100 }),
      version,
    })
  await ensure()
  t.same(await chunks.lines(), ['min shard01 1|0', '0 shard02 2|0', '100 shard03 1|2'])
  await ensure()
  t.same(await chunks.lines(), ['min shard01 1|0', '0 shard02 2|0', '100 shard03 1|2'], 'it is newer already')
  const { error } = await chunks.config.send('config.commit-chunk-migration', {
    ns,
    min: encode({ a: 0 }),
    max: encode({ a: 100 }),
    from: 'shard02',
    to: 'shard01',
    chunkVersion: version,
    clusterTime: [0, 0],
    plannedAt: [0, 0],
  })
  t.match(decode(error!), { code: 117 })
  t.equal(((await chunks.at(50))['lastmod'] as Timestamp).t, 2)
})

t.test(
  'members learn of a commit once it is on the disk; while the disk is full they get the current state',
  async (t) => {
    const disk = new FakeDisk()
    const chunks = await Chunks.make([0], ['shard01', 'shard02'], '7.0', disk)
    const owners = async (from?: string) => {
      const documents = documentsIn(await chunks.config.send('config.get-collection', { ns, since: null }, from))
      return documents.map((document) => decode(document)['shard']).sort()
    }
    disk.held = true
    const moved = chunks.move(0, 'shard03')
    while (disk.waiting === 0) await Promise.resolve()
    let heard: readonly unknown[] | null = null
    const waiting = owners().then((all) => (heard = all))
    t.same(await owners(clusterAddress), ['shard01', 'shard03'], 'a request that only measures does not wait')
    t.equal(heard, null)
    disk.release()
    t.equal(await moved, null)
    await waiting
    t.same(heard, ['shard01', 'shard03'])
    disk.held = true
    const refused = chunks.move(0, 'shard01')
    while (disk.waiting === 0) await Promise.resolve()
    disk.limitBytes = 0
    disk.release()
    t.match(await refused, { code: 14031 })
    t.same(await owners(), ['shard01', 'shard01'])
  },
)

t.test('until 5.0 a migration is committed only if its range is still a chunk', async (t) => {
  for (const [version, commits] of [
    ['2.6', false],
    ['4.0', false],
    ['5.0', false],
    ['6.0', true],
  ] as const) {
    const chunks = await Chunks.make([0, 100], ['shard01', 'shard02'], version)
    await chunks.split(50, [50])
    const merged = await chunks.merge(0, 50)
    t.equal(merged, null, version)
    const before = await chunks.lines()
    const range = { min: { a: 50 }, max: { a: 100 } }
    const outcome = await chunks.move(50, 'shard01', range)
    if (commits) t.equal(outcome, null, version)
    else
      t.match(outcome, {
        code: 40165,
        errmsg: /^Could not find the chunk /,
      })
    t.equal((await chunks.lines()).length, before.length + (commits ? 1 : 0), version)
  }
})
