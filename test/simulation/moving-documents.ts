/** Clients that mostly move documents between shards, from a seed, while members crash. */
import { createRandom, RequestFailedError, type Random } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { CrashDriver } from './crash-driver.js'

export interface Outcome {
  readonly traceHash: string
  readonly violations: readonly string[]
  readonly crashes: number
  /** Number of acknowledged updates, and of those with unknown outcome. */
  readonly acknowledged: number
  readonly unknown: number
}

const clients = 3
const documents = 6
const updatesOfClient = 40
/** Error codes with unknown outcome, and error codes of updates that were not executed. */
const unknownCodes: ReadonlySet<number> = new Set([6, 133, 217])
/**
 * A search without shard key has no common time on all shards. So it can find a document on the
 * shard that it has moved to, while the snapshot of the other one still has it: 11000.
 */
const refusedCodes: ReadonlySet<number> = new Set([112, 251, 11_000])

export async function playMoves(seed: number): Promise<Outcome> {
  const cluster = await createSimulatedCluster({
    seed,
    shards: 3,
    mongos: 2,
    emulate: '8.0',
    findReplicaSetHostTimeoutMs: 1000,
  })
  const random = createRandom(seed).fork('moves')
  const counts = { acknowledged: new Array<number>(documents).fill(0), unknown: new Array<number>(documents).fill(0) }
  await send(cluster, random, { shardCollection: 'app.c', key: { k: 'hashed' }, $db: 'admin' })
  const all = Array.from({ length: documents }, (_, _id) => ({ _id, k: _id, n: 0 }))
  await send(cluster, random, { insert: 'c', documents: all, $db: 'app' })
  const crashDriver = new CrashDriver(cluster, random, clients)
  const work = Array.from({ length: clients }, (_, i) =>
    client(cluster, random.fork(`client ${i}`), counts, crashDriver).finally(() => crashDriver.clientDone()),
  )
  await Promise.all([...work, crashDriver.run()])
  // All members are up again, so outcomes can be read.
  await cluster.advance(10_000)
  const violations = await violationsOf(cluster, counts)
  await cluster.stop()
  const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
  return {
    traceHash: cluster.traceHash(),
    violations,
    crashes: crashDriver.crashes,
    acknowledged: sum(counts.acknowledged),
    unknown: sum(counts.unknown),
  }
}

interface Counts {
  readonly acknowledged: number[]
  readonly unknown: number[]
}

async function client(
  cluster: SimulatedCluster,
  random: Random,
  { acknowledged, unknown }: Counts,
  crashDriver: CrashDriver,
): Promise<void> {
  const lsid = { id: new Binary(random.bytes(16), 4) }
  for (let i = 1; i <= updatesOfClient; i++) {
    const _id = random.below(documents)
    const change = { $set: { k: random.below(1000) }, $inc: { n: 1 } }
    const session = { lsid, txnNumber: Long.fromNumber(i), $db: 'app' }
    const command = random.chance(1, 3)
      ? { findAndModify: 'c', query: { _id }, update: change, new: random.chance(1, 2), ...session }
      : { update: 'c', updates: [{ q: { _id }, u: change }], ...session }
    crashDriver.sent()
    const reply = await send(cluster, random, command)
    const error = reply === null ? { code: 6, errmsg: '' } : reply['ok'] === 1 ? reply['writeErrors']?.[0] : reply
    const n = reply?.['lastErrorObject']?.n ?? reply?.['n']
    if (error === undefined) acknowledged[_id]! += n as number
    else if (unknownCodes.has(error.code)) unknown[_id]!++
    else if (!refusedCodes.has(error.code))
      throw new Error(`${Object.keys(command)[0]} failed with ${error.code} ${error.errmsg}`)
    await cluster.advance(random.fraction() * 5)
  }
}

/** The reply of some router; null: the router went away. */
async function send(cluster: SimulatedCluster, random: Random, command: Document): Promise<Document | null> {
  const to = cluster.mongos[random.below(cluster.mongos.length)]!
  try {
    return decode(await cluster.command(encode(command), { to }), { promoteLongs: true })
  } catch (error) {
    if (error instanceof RequestFailedError) return null
    throw error
  }
}

async function violationsOf(cluster: SimulatedCluster, { acknowledged, unknown }: Counts): Promise<string[]> {
  const find = encode({ find: 'c', $db: 'app' })
  const lists = await Promise.all(
    [...cluster.shards, 'mongos01'].map(
      async (to) =>
        decode(await cluster.command(find, { to }), { promoteLongs: true })['cursor'].firstBatch as Document[],
    ),
  )
  const routed = lists.pop()!
  const violations: string[] = []
  for (let _id = 0; _id < documents; _id++) {
    const copies = lists.flat().filter((document) => document['_id'] === _id)
    const seen = routed.filter((document) => document['_id'] === _id)
    if (copies.length !== 1 || seen.length !== 1)
      violations.push(`document ${_id} is there ${copies.length} times, ${seen.length} are found`)
    const n = seen[0]?.['n'] as number
    const least = acknowledged[_id]!
    if (n < least || n > least + unknown[_id]!)
      violations.push(`document ${_id} was changed ${n} times, not ${least} to ${least + unknown[_id]!}`)
  }
  return violations
}
