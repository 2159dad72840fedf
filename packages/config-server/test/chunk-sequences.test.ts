import { kindShape, PacketWriter, readPacketInPlace, type ReplyOf } from '@shardlab/actor'
import { decode, type Document, type Timestamp } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { applyPlacementReply } from '@shardlab/member'
import {
  applyPlacementAnswer,
  knownVersion,
  type CollectionPlacement,
  type EmulatedVersion,
  type PlacementVersion,
} from '@shardlab/sharding'
import fc from 'fast-check'
import t from 'tap'
import { Chunks, ns } from './support/chunks.js'

type Operation = readonly [
  kind: 'split' | 'merge' | 'move' | 'cut' | 'merge-all' | 'wait',
  at: number,
  width: number,
  shard: number,
]

const operations = fc.array(
  fc.tuple(
    fc.constantFrom('split', 'split', 'merge', 'move', 'cut', 'merge-all', 'wait'),
    fc.integer({ min: -30, max: 30 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 3 }),
  ) as fc.Arbitrary<Operation>,
  { maxLength: 25 },
)

t.test('after any sequence chunks fill the key space, versions grow and refreshes add up', async (t) => {
  const versionOf = ({ lastmod }: Document) => (lastmod as Timestamp).t * 100_000 + (lastmod as Timestamp).i
  await check(
    fc.asyncProperty(
      operations,
      fc.constantFrom<EmulatedVersion>('4.4', '5.0', '7.0', '8.0'),
      async (sequence, version) => {
        const chunks = await Chunks.make([-10, 0, 10], ['shard01', 'shard02'], version)
        const attaching = paces.map(() => new Receiver(chunks, 'attached'))
        const packing = paces.map(() => new Receiver(chunks, 'packed'))
        for (const receiver of [...attaching, ...packing]) await receiver.refresh()
        for (const [i, [kind, at, width, shard]] of sequence.entries()) {
          const before = await chunks.all()
          const error = await perform(chunks, kind, at, width, `shard0${shard}`)
          const after = await chunks.all()
          const newest = Math.max(...before.map(versionOf))
          const old = new Set(
            before.map((chunk) => JSON.stringify([chunk['min'], chunk['max'], chunk['shard'], chunk['lastmod']])),
          )
          const changed = after.filter(
            (chunk) => !old.has(JSON.stringify([chunk['min'], chunk['max'], chunk['shard'], chunk['lastmod']])),
          )
          if (error !== null && changed.length > 0) throw new Error(`${kind} failed and changed something`)
          if (changed.some((chunk) => versionOf(chunk) <= newest)) throw new Error(`${kind}: a version that is not new`)
          if (new Set(after.map(versionOf)).size !== after.length) throw new Error(`${kind}: two chunks of one version`)
          if (new Set(after.map((chunk) => String(chunk['_id']))).size !== after.length)
            throw new Error(`${kind}: two chunks of one id`)
          const majors = changed.map((chunk) => (chunk['lastmod'] as Timestamp).t)
          const moves = kind === 'move' || kind === 'cut'
          if (majors.some((major) => major !== Math.floor(newest / 100_000) + (moves ? 1 : 0)))
            throw new Error(`${kind}: a wrong major`)
          // `wholePlacement` checks that there are no gaps and no overlaps.
          const whole = await wholePlacement(chunks)
          for (const [often, rarely, late] of [attaching, packing] as const) {
            assertSame(await often!.refresh(), whole)
            if (i % 4 === 3) assertSame(await rarely!.refresh(), whole)
            if (i % 3 === 0) await late!.ask()
            if (i % 3 === 2) assertSame(late!.receive(), late!.asOf!)
          }
        }
        const whole = await wholePlacement(chunks)
        for (const receiver of [...attaching, ...packing]) assertSame(await receiver.refresh(), whole)
        const [one, other] = await Promise.all(attaching.slice(0, 2).map((receiver) => receiver.refresh()))
        if (one!.table !== other!.table) throw new Error('two receivers of one version have different tables')
      },
    ),
    process.env['SHARDLAB_LONG'] === '1' ? 2000 : 60,
  )
  t.pass()
})

t.test('after a client has written to config.chunks, members apply its documents themselves', async (t) => {
  for (const form of ['attached', 'packed'] as const) {
    const chunks = await Chunks.make([-10, 0, 10], ['shard01', 'shard02'])
    const known = new Receiver(chunks, form)
    await known.refresh()
    const { _id } = await chunks.at(0)
    await chunks.run({ update: 'chunks', updates: [{ q: { _id }, u: { $set: { shard: 'shard03' } } }] })
    t.equal((await known.refresh()).table.chunksOn('shard03'), 0, 'a change without a new version is not sent')
    t.equal((await new Receiver(chunks, form).refresh()).table.chunksOn('shard03'), 1)
    await chunks.run({ delete: 'chunks', deletes: [{ q: { _id }, limit: 1 }] })
    t.equal(await chunks.move(10, 'shard03'), null)
    t.equal((await known.refresh()).table.chunksOn('shard03'), 1, 'a known placement can still be updated')
    await t.rejects(new Receiver(chunks, form).refresh(), {
      code: 117,
      message: 'Gap or overlap exists in the routing table of collection db.c: chunks leave a gap or overlap',
    })
  }
})

t.test('a restart with chunks that leave a gap answers with documents', async (t) => {
  for (const form of ['attached', 'packed'] as const) {
    const chunks = await Chunks.make([-10, 0, 10], ['shard01', 'shard02'])
    const known = new Receiver(chunks, form)
    await known.refresh()
    const { _id } = await chunks.at(0)
    await chunks.run({ delete: 'chunks', deletes: [{ q: { _id }, limit: 1 }] })
    const again = chunks.restarted()
    t.equal(await again.move(10, 'shard03'), null)
    t.equal((await known.refresh(again)).table.chunksOn('shard03'), 1)
    await t.rejects(new Receiver(again, form).refresh(), { code: 117 })
  }
})

t.test('a collection that a client has put in the place of config.chunks is read from the start', async (t) => {
  const chunks = await Chunks.make([0], ['shard01', 'shard02'])
  const known = new Receiver(chunks, 'attached')
  t.equal((await known.refresh()).table.chunksOn('shard02'), 1)
  const documents = (await chunks.config.all('chunks')).map((chunk) => ({ ...chunk, shard: 'shard01' }))
  await chunks.run({ insert: 'restored', documents })
  await chunks.run({ renameCollection: 'config.restored', to: 'config.chunks', dropTarget: true }, 'admin')
  t.equal((await new Receiver(chunks, 'attached').refresh()).table.chunksOn('shard01'), 2)
})

t.test('chunks are read in parts, each beginning after the version of the last chunk', async (t) => {
  const chunks = await Chunks.make([-10, 0, 10], ['shard01', 'shard02'])
  const read = (since: PlacementVersion | null, limit: number) =>
    chunks.config.send('config.get-chunks', { ns, since, limit })
  const versions = ({ chunks: documents }: { readonly chunks: readonly Uint8Array[] }) =>
    documents.map((document) => (decode(document)['lastmod'] as Timestamp).i)
  const generation = await chunks.generation()
  const first = await read(null, 3)
  t.same([first.full, versions(first)], [true, [0, 1, 2]])
  const second = await read([...generation, 1, 2], 3)
  t.same([second.full, versions(second)], [false, [3]])
  await chunks.config.send('config.commit-drop-collection', { ns })
  await chunks.config.createCollection(ns, [0])
  const recreated = await read([...generation, 1, 2], 3)
  t.same([recreated.full, versions(recreated)], [true, [0, 1]])
})

const paces = ['often', 'rarely', 'late'] as const

async function wholePlacement({ config }: Chunks): Promise<CollectionPlacement> {
  const request = { ns, since: null, limit: null }
  return applyPlacementAnswer(ns, null, await config.send('config.get-chunks', request))!
}

/**
 * A member that refreshes, in a runtime that attaches objects to messages or in one that packs
 * them.
 */
class Receiver {
  readonly #chunks: Chunks
  readonly #attaches: boolean
  #own: CollectionPlacement | null = null
  #reply: ReplyOf<'config.get-collection'> | null = null
  /** At the time of the last request; null: the catalog had no placement. */
  asOf: CollectionPlacement | null = null

  constructor(chunks: Chunks, form: 'attached' | 'packed') {
    this.#chunks = chunks
    this.#attaches = form === 'attached'
  }

  async ask({ config } = this.#chunks): Promise<void> {
    config.context.attaches = this.#attaches
    const reply = await config.send('config.get-collection', { ns, since: knownVersion(this.#own) })
    const writer = new PacketWriter()
    writer.addReply(1, 0, 1, 'config.get-collection', reply)
    const [message] = readPacketInPlace(writer.takeInPlace())
    this.#reply = kindShape('config.get-collection').toReply(message![5]) as ReplyOf<'config.get-collection'>
    this.asOf = await wholePlacement(this.#chunks).catch(() => null)
  }

  receive(): CollectionPlacement {
    return (this.#own = applyPlacementReply(ns, this.#own, this.#reply!)!)
  }

  async refresh(chunks = this.#chunks): Promise<CollectionPlacement> {
    await this.ask(chunks)
    return this.receive()
  }
}

function assertSame(a: CollectionPlacement, b: CollectionPlacement): void {
  const told = ({ table }: CollectionPlacement) =>
    JSON.stringify([
      table.version,
      [...table.chunks()],
      table.owners(),
      table.owners().map((shard) => table.versionOn(shard)),
    ])
  if (told(a) !== told(b)) throw new Error(`refreshed: ${told(a)}\nbuilt: ${told(b)}`)
}

/** @returns null: success */
async function perform(
  chunks: Chunks,
  kind: Operation[0],
  at: number,
  width: number,
  shard: string,
): Promise<Document | null> {
  switch (kind) {
    case 'split':
      return chunks.split(at, width > 6 ? [at + 0.5, at + 0.5 + width / 100] : [at + 0.5])
    case 'merge':
      return chunks.merge(at, at + width)
    case 'move':
      return chunks.move(at, shard)
    case 'cut':
      return chunks.move(at, shard, { min: { a: at }, max: { a: at + width / 10 } })
    case 'merge-all':
      return chunks.config
        .send('config.commit-merge-all-chunks', { ns, shard, chunksMax: null })
        .then(({ error }) => (error === null ? null : decode(error)))
    case 'wait':
      chunks.config.context.nowMs += 200_000
      return null
  }
}
