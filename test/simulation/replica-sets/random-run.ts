/**
 * Clients write and read while members crash, restart and are cut off. Then everything heals, and
 * the members are compared with each other and with what the clients were told.
 */
import { createRandom, type MutationName, type Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { SimulatedRuntime } from '@shardlab/runtime'
import { Elections, memberDifferences } from '@shardlab/scenario'
import { SetUnderTest } from './simulated-set.js'

type SimulatedFaults = SimulatedRuntime['faults']

export interface RandomRunOptions {
  readonly seed: number
  readonly mutations?: readonly MutationName[]
  /** Virtual time of the faults. Default 30,000. */
  readonly durationMs?: number
}

/** What clients were told, in the order of virtual time. */
interface Ledger {
  /** `_id`s whose insert a majority has acknowledged, and those seen by majority reads. */
  readonly lasting: Map<number, string>
  /** `_id`s that some client has sent. */
  readonly sent: Set<number>
  acknowledged: number
}

const clients = 4

const below = (random: Random, n: number): number => random.below(n)
const between = (random: Random, min: number, max: number): number => min + below(random, max - min + 1)
const pick = <T>(random: Random, items: readonly T[]): T => items[below(random, items.length)]!

/** @throws Error with the seed when a guarantee is broken */
export async function randomRun({
  seed,
  mutations = [],
  durationMs = 30_000,
}: RandomRunOptions): Promise<SetUnderTest> {
  const random = createRandom(seed).fork('replica-set-run')
  const members = pick(random, [3, 3, 3, 5])
  const set = await SetUnderTest.start({
    seed,
    members,
    mutations,
    emulate: pick(random, ['4.4', '6.0', '7.0', '8.0']),
    settings: { catchUpTimeoutMillis: pick(random, [-1, 0, 1000]), chainingAllowed: random.chance(80, 100) },
    ...(random.chance(50, 100) ? { checkpointAfterBytes: 20_000 } : {}),
  })
  const ledger: Ledger = { lasting: new Map(), sent: new Set(), acknowledged: 0 }
  try {
    const endMs = set.runtime.now() + durationMs
    await Promise.all([
      ...Array.from({ length: clients }, (_, i) => client(set, random.fork(`client ${i}`), ledger, i, endMs)),
      breakMembers(set, random.fork('faults'), endMs),
    ])
    await set.settle()
    await check(set, ledger)
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
  } finally {
    await set.stop().catch(() => {})
  }
  return set
}

async function breakMembers(set: SetUnderTest, random: Random, endMs: number): Promise<void> {
  const heals: (() => Promise<void>)[] = []
  while (set.runtime.now() < endMs) {
    await set.runtime.advance(between(random, 200, 3000))
    const name = pick(random, set.names)
    const state = set.runtime.member(name)!.state
    switch (below(random, 11)) {
      case 0:
      case 1:
        if (state === 'running') await set.runtime.crash(name)
        else await set.runtime.restart(name)
        break
      case 2:
      case 3: {
        // An isolated primary accepts writes until it notices.
        const [primary] = await set.writablePrimaries()
        if (primary !== undefined) heals.push(await set.isolate(primary))
        break
      }
      case 9:
      case 10:
        heals.push(await disturb(set, random, name))
        break
      case 8: {
        // Its clients are served before it learns of the next primary.
        const [primary] = await set.writablePrimaries()
        if (primary !== undefined) await freeze(set, primary, between(random, 3000, 6000))
        break
      }
      case 4:
        heals.push(await set.isolate(name))
        break
      case 5:
        if (state === 'running')
          await set.tryCommand(name, { replSetStepDown: 5, force: random.chance(50, 100), $db: 'admin' })
        break
      default:
        for (const heal of heals.splice(0)) await heal()
    }
  }
  for (const heal of heals) await heal()
  for (const name of set.names) if (set.runtime.member(name)!.state !== 'running') await set.runtime.restart(name)
}

/** A slow or full disk, a wrong clock, or slow or broken connections. @returns heals it */
async function disturb(set: SetUnderTest, random: Random, address: string): Promise<() => Promise<void>> {
  const link = {
    scope: 'link',
    from: [address],
    to: 'members',
    bothWays: true,
    kinds: null,
    times: null,
    seed: null,
  } as const
  const id = await set.runtime.faults.apply(
    pick<Parameters<SimulatedFaults['apply']>[0]>(random, [
      { scope: 'member', address, effect: { type: 'full-disk' } },
      { scope: 'member', address, effect: { type: 'slow-disk', perAppendMs: 30 } },
      { scope: 'member', address, effect: { type: 'clock-skew', skewMs: between(random, -3000, 3000) } },
      { ...link, effect: { type: 'delay', minMs: 1, maxMs: 300 }, probability: 1 },
      { ...link, effect: { type: 'drop' }, probability: 0.05 },
    ]),
  )
  return () => set.runtime.faults.heal(id)
}

async function freeze(set: SetUnderTest, address: string, durationMs: number): Promise<void> {
  const id = await set.runtime.faults.apply({ scope: 'member', effect: { type: 'freeze' }, address })
  await set.runtime.advance(durationMs)
  await set.runtime.faults.heal(id)
}

async function client(set: SetUnderTest, random: Random, ledger: Ledger, index: number, endMs: number): Promise<void> {
  let next = index
  while (set.runtime.now() < endMs) {
    await set.runtime.advance(between(random, 5, 200))
    const primaries = await set.writablePrimaries()
    const to = random.chance(90, 100) && primaries.length > 0 ? pick(random, primaries) : pick(random, set.names)
    if (random.chance(10, 100)) await readLinearizably(set, ledger, to, index)
    else if (random.chance(20, 100)) await readMajority(set, ledger, pick(random, set.names), index)
    else if (random.chance(4, 100)) await define(set, random, to, index)
    else {
      next += clients
      await write(set, random, ledger, to, next, index)
    }
  }
}

async function write(set: SetUnderTest, random: Random, ledger: Ledger, to: string, _id: number, connectionId: number) {
  ledger.sent.add(_id)
  const writeConcern = random.chance(60, 100) ? { w: 'majority', wtimeout: 4000 } : { w: 1 }
  const reply = await set.tryCommand(to, { insert: 'rows', documents: [{ _id, n: 0 }], writeConcern }, connectionId)
  if (reply === null || reply['ok'] !== 1 || reply['n'] !== 1) return
  ledger.acknowledged++
  const majority = writeConcern.w === 'majority' && reply['writeConcernError'] === undefined
  if (majority) {
    ledger.lasting.set(_id, `acknowledged by ${to}`)
    if (random.chance(1, 2)) await readCausally(set, pick(random, set.names), _id, reply['operationTime'] as Document)
  }
  // Updates and deletes of other documents, whose effects a rollback must undo.
  if (random.chance(50, 100))
    await set.tryCommand(to, {
      update: 'counters',
      updates: [{ q: { _id: _id % 7 }, u: { $inc: { n: 1 } }, upsert: true }],
    })
  if (random.chance(20, 100))
    await set.tryCommand(to, { delete: 'counters', deletes: [{ q: { _id: _id % 7 }, limit: 1 }] })
}

/** Changes of the catalog, which a rollback must undo, too. */
async function define(set: SetUnderTest, random: Random, to: string, connectionId: number): Promise<void> {
  const name = `side${below(random, 3)}`
  const command = pick<Document>(random, [
    { create: name },
    { drop: name },
    { createIndexes: name, indexes: [{ key: { a: 1 }, name: 'a_1' }] },
    { dropIndexes: name, index: '*' },
    { insert: name, documents: [{ a: below(random, 101) }] },
  ])
  await set.tryCommand(to, { ...command, writeConcern: { w: 1 } }, connectionId)
}

async function readMajority(set: SetUnderTest, ledger: Ledger, from: string, connectionId: number): Promise<void> {
  const reply = await set.tryCommand(
    from,
    {
      find: 'rows',
      batchSize: 100_000,
      readConcern: { level: 'majority' },
      $readPreference: { mode: 'secondaryPreferred' },
      maxTimeMS: 5000,
    },
    connectionId,
  )
  if (reply === null || reply['ok'] !== 1) return
  for (const { _id } of reply['cursor'].firstBatch as { _id: number }[])
    if (!ledger.lasting.has(_id)) ledger.lasting.set(_id, `read with majority from ${from}`)
}

/** A client that has seen the insert must see the document on every member. */
async function readCausally(set: SetUnderTest, from: string, _id: number, afterClusterTime: Document): Promise<void> {
  const reply = await set.tryCommand(from, {
    find: 'rows',
    filter: { _id },
    readConcern: { level: 'majority', afterClusterTime },
    $readPreference: { mode: 'secondaryPreferred' },
    maxTimeMS: 3000,
  })
  if (reply === null || reply['ok'] !== 1) return
  if (reply['cursor'].firstBatch.length === 0) throw new Error(`${from} does not show document ${_id} to its writer`)
}

/** Every write that was acknowledged before the read began must be in it. */
async function readLinearizably(set: SetUnderTest, ledger: Ledger, from: string, connectionId: number): Promise<void> {
  const before = [...ledger.lasting.keys()]
  const command = { find: 'rows', batchSize: 100_000, readConcern: { level: 'linearizable' }, maxTimeMS: 4000 }
  const reply = await set.tryCommand(from, command, connectionId)
  if (reply === null || reply['ok'] !== 1) return
  const found = new Set((reply['cursor'].firstBatch as { _id: number }[]).map(({ _id }) => _id))
  const missing = before.find((_id) => !found.has(_id))
  if (missing !== undefined) throw new Error(`a linearizable read from ${from} lacks document ${missing}`)
}

async function check(set: SetUnderTest, ledger: Ledger): Promise<void> {
  const elections = new Elections()
  const wrong = [
    ...set.eventsOf('election').flatMap((event) => elections.seen(event)),
    ...(await memberDifferences(set.runtime, 'rs', set.names)),
  ]
  if (wrong.length > 0) throw new Error(wrong.map(({ sentence }) => sentence).join('; '))
  const find = { find: 'rows', batchSize: 100_000 }
  const { cursor } = await set.command(await set.primary(), find)
  const ids = new Set((cursor.firstBatch as { _id: number }[]).map(({ _id }) => _id))
  for (const [_id, why] of ledger.lasting) if (!ids.has(_id)) throw new Error(`document ${_id} is lost: it was ${why}`)
  for (const _id of ids) if (!ledger.sent.has(_id)) throw new Error(`document ${_id} was never sent`)
}
