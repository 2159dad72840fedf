/** Checks the invariants of chunks after random sequences of splits, merges and moves. */
import { FakeDisk } from '@shardlab/actor/testing'
import { decode, encode, keyStringOfDocument, type Document, type Timestamp } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import {
  applyPlacementAnswer,
  knownVersion,
  SharedPlacements,
  type CollectionPlacement,
  type EmulatedVersion,
  type PlacementAnswer,
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
      fc.boolean(),
      async (...drawn) => {
        const [sequence, version, configShares] = drawn
        const shared = new Map<string, unknown>()
        const chunks = await Chunks.make(
          [-10, 0, 10],
          ['shard01', 'shard02'],
          version,
          configShares ? shared : undefined,
        )
        const ask = async (known: CollectionPlacement | null) =>
          applyPlacementAnswer(
            ns,
            known,
            await chunks.config.send('config.get-collection', { ns, since: knownVersion(known) }),
          )!
        let routed = await ask(null)
        let rarely = routed
        const sharing = [1, 2, 3].map(() => new Member(chunks, shared))
        for (const member of sharing) await member.refresh()
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
          // Building checks that there is no gap and no overlap.
          const whole = await ask(null)
          routed = await ask(routed)
          if (i % 4 === 3) rarely = await ask(rarely)
          assertSame(routed, whole)
          // One asks and is answered later, one asks each time, one now and then.
          if (i % 3 === 0) await sharing[0]!.ask()
          assertSame(await sharing[1]!.refresh(), whole)
          if (i % 3 === 2) assertSame(sharing[0]!.hear(), sharing[0]!.asOf!)
          if (i % 5 === 4) assertSame(await sharing[2]!.refresh(), whole)
        }
        assertSame(await ask(rarely), await ask(null))
      },
    ),
    process.env['SHARDLAB_LONG'] === '1' ? 2000 : 60,
  )
  t.pass()
})

t.test('where members share, whoever asks after a move knows it already', async (t) => {
  const shared = new Map<string, unknown>()
  const chunks = await Chunks.make([-10, 0, 10], ['shard01', 'shard02'], '7.0', shared)
  const placements = new SharedPlacements({ shared })
  await chunks.move(0, 'shard03')
  t.equal(placements.before(ns, null), null, 'nobody has asked yet')
  await new Member(chunks, shared).refresh()
  t.equal(await chunks.move(-10, 'shard03'), null)
  const known = placements.before(ns, null)!
  t.same(known.table.version.slice(3), [3, 1])
  t.equal(known.table.chunksOn('shard03'), 2)
  const { chunks: newer } = await chunks.config.send('config.get-collection', { ns, since: known.table.version })
  t.equal(newer.length, 0)
  t.ok(await chunks.move(-10, 'nowhere'), 'what is refused changes nothing')
  t.equal(placements.before(ns, null), known)
})

t.test(
  'where members share: a later commit that is not on the disk yet takes nothing from what is published',
  async (t) => {
    const shared = new Map<string, unknown>()
    const disk = new FakeDisk()
    const chunks = await Chunks.make([-10, 0, 10], ['shard01', 'shard02'], '7.0', shared, disk)
    const placements = new SharedPlacements({ shared })
    await new Member(chunks, shared).refresh()
    t.equal((await chunks.at(-10))['shard'], 'shard02')
    disk.held = true
    const first = chunks.move(-10, 'shard03')
    while (disk.waiting === 0) await Promise.resolve()
    const second = chunks.move(-10, 'shard01')
    while ((await chunks.at(-10))['shard'] !== 'shard01') await Promise.resolve()
    disk.release()
    disk.held = true
    t.equal(await first, null)
    const { table } = placements.before(ns, null)!
    t.same(table.version.slice(3), [2, 1])
    t.equal(table.shardOf(keyStringOfDocument(encode({ a: -10 }))), 'shard03')
    disk.release()
    t.equal(await second, null)
  },
)

t.test('where members share: what commits that overtake each other change is published as a whole', async (t) => {
  const shared = new Map<string, unknown>()
  const disk = new FakeDisk()
  const chunks = await Chunks.make([-10, 0, 10], ['shard01', 'shard02'], '7.0', shared, disk)
  const placements = new SharedPlacements({ shared })
  await new Member(chunks, shared).refresh()
  const limitBytes = disk.limitBytes
  disk.held = true
  const refused = chunks.move(-10, 'shard03')
  while (disk.waiting === 0) await Promise.resolve()
  const later = [chunks.split(0, [5])]
  while (((await chunks.at(5))['min'] as Document)['a'] !== 5) await Promise.resolve()
  for (const at of [5, 10]) {
    later.push(chunks.move(at, 'shard03'))
    while ((await chunks.at(at))['shard'] !== 'shard03') await Promise.resolve()
  }
  disk.limitBytes = 0
  disk.release()
  t.match(await refused, { code: 14031 })
  t.same(
    (await Promise.all(later)).map((error) => error?.['code'] ?? null),
    [14031, 14031, 14031],
  )
  t.same(placements.before(ns, null)!.table.version.slice(3), [1, 3], 'what is not on the disk is not published')
  disk.limitBytes = limitBytes
  t.equal(await chunks.move(-10, 'shard01'), null)
  const known = placements.before(ns, null)!
  t.same(known.table.version.slice(3), [5, 1])
  assertSame(known, (await new Member(chunks, new Map()).refresh())!)
})

/** One of several who keep the newest placement together. */
class Member {
  readonly #chunks: Chunks
  readonly #placements: SharedPlacements
  #own: CollectionPlacement | null = null
  #asked: { readonly from: CollectionPlacement | null; readonly answer: PlacementAnswer } | null = null
  /** What there was when it asked. */
  asOf: CollectionPlacement | null = null

  constructor(chunks: Chunks, shared: Map<string, unknown>) {
    this.#chunks = chunks
    this.#placements = new SharedPlacements({ shared })
  }

  async ask(): Promise<void> {
    const send = (since: CollectionPlacement | null) =>
      this.#chunks.config.send('config.get-collection', { ns, since: knownVersion(since) })
    const from = this.#placements.before(ns, this.#own)
    this.#asked = { from, answer: await send(from) }
    this.asOf = applyPlacementAnswer(ns, null, await send(null))
  }

  hear(): CollectionPlacement {
    this.#own = this.#placements.after(ns, this.#asked!.from, this.#asked!.answer)!
    return this.#own
  }

  async refresh(): Promise<CollectionPlacement> {
    await this.ask()
    return this.hear()
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

/** @returns the error, null for success */
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
