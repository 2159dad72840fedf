/**
 * A document moves to another shard because its shard key value changes, and a primary is replaced
 * while a member is held at a step.
 */
import { createRandom } from '@shardlab/actor'
import { Binary, Long, type Document } from '@shardlab/bson'
import { twoShardsFor, differencesInSets, failParty, storedOn, type PartyFailure } from './party-failure.js'
import { PatientClient } from './patient-client.js'

export const documentMoveSteps = [
  'shard.transaction.coordinating',
  'shard.transaction.participants-written',
  'shard.transaction.preparing',
  'shard.transaction.prepared',
  'shard.transaction.voted',
  'shard.transaction.decided',
  'shard.transaction.acknowledged',
] as const

export interface DocumentMoveScene {
  readonly seed: number
  readonly step: (typeof documentMoveSteps)[number]
  readonly party: 'donor' | 'recipient'
  readonly failure: PartyFailure
}

export interface DocumentMoveOutcome {
  readonly violations: readonly string[]
  readonly struck: boolean
}

const settleMs = 30_000
/** A repeated statement was executed as a transaction; or the router remembers an aborted one. */
const transactionHistoryIncomplete = 217
const conflictingOperation = 117

export async function playDocumentMove({
  seed,
  step,
  party,
  failure,
}: DocumentMoveScene): Promise<DocumentMoveOutcome> {
  const cluster = await twoShardsFor(failure, seed)
  const random = createRandom(seed).fork('document move')
  const client = new PatientClient(cluster, random.fork('client'))
  const [donor, recipient] = cluster.shards as [string, string]
  await client.untilDone({ enableSharding: 'app', primaryShard: donor, $db: 'admin' })
  await client.untilDone({ shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
  await client.untilDone({ split: 'app.c', middle: { k: 100 }, $db: 'admin' })
  await client.untilDone({ moveChunk: 'app.c', find: { k: 100 }, to: recipient, $db: 'admin' })
  await client.untilDone({ insert: 'c', documents: [{ _id: 1, k: 1, n: 0 }], $db: 'app' })
  const moving = {
    update: 'c',
    updates: [{ q: { k: 1 }, u: { $set: { k: 200 }, $inc: { n: 1 } } }],
    lsid: { id: new Binary(Buffer.alloc(16, 1), 4) },
    txnNumber: Long.fromNumber(1),
    $db: 'app',
  }
  const fault = await cluster.steps.arm(step, 'hold', { times: 1 })
  let struck = false
  const failed = cluster.steps.struck(fault).then(async () => {
    struck = true
    const heal = () => cluster.steps.heal(fault)
    await failParty(cluster, party === 'donor' ? donor : recipient, failure, random, heal)
  })
  const reply = await client.once(moving)
  await cluster.advance(settleMs)
  if (struck) await failed
  const violations: string[] = []
  const found = async (): Promise<Document[]> =>
    (await client.untilDone({ find: 'c', filter: { _id: 1 }, $db: 'app' }))['cursor'].firstBatch
  const text = JSON.stringify(await found())
  const isMoved = text === '[{"_id":1,"k":200,"n":1}]'
  if (!isMoved && text !== '[{"_id":1,"k":1,"n":0}]') violations.push(`found ${text}`)
  if (isAcknowledged(reply) && !isMoved) violations.push('the move was acknowledged and has not happened')
  const again = await client.untilDone(moving, [transactionHistoryIncomplete, conflictingOperation])
  const code = again['writeErrors']?.[0]?.code ?? again['code'] ?? 0
  // A shard or router that remembers the aborted transaction refuses the repetition, too.
  const mayAnswer =
    code === transactionHistoryIncomplete || (!isMoved && (code === conflictingOperation || isAcknowledged(again)))
  if (!mayAnswer) violations.push(`moved: ${isMoved}, and the repeated statement answers ${JSON.stringify(again)}`)
  const isMovedAtLast = isMoved || code === 0
  const last = JSON.stringify(await found())
  if (last !== (isMovedAtLast ? '[{"_id":1,"k":200,"n":1}]' : '[{"_id":1,"k":1,"n":0}]'))
    violations.push(`found ${last} after the repetition`)
  await cluster.advance(settleMs)
  for (const shard of cluster.shards) {
    const copies = await storedOn(cluster, shard, 'app', 'c')
    if (copies.length !== ((shard === recipient) === isMovedAtLast ? 1 : 0))
      violations.push(`${shard} has ${copies.length} documents`)
    for (const record of await storedOn(cluster, shard, 'config', 'transaction_coordinators'))
      violations.push(`${shard} has the unfinished move ${JSON.stringify(record)}`)
  }
  violations.push(...(await differencesInSets(cluster)))
  await cluster.stop()
  return { violations, struck }
}

const isAcknowledged = (reply: Document | null): boolean =>
  reply?.['ok'] === 1 && reply['n'] === 1 && reply['writeErrors'] === undefined && !('writeConcernError' in reply)
