/**
 * A transaction writes on two shards. Its coordinator, the other participant or the router fails
 * right before or right after a step of the commit.
 */
import { createDeferred, RequestFailedError } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster, SimulatedClusterOptions } from '@shardlab/cluster'
import type { Test } from 'tap'
import { primaryOf } from '../party-failure.js'
import { ask, start } from '../two-shard-cluster.js'
import { transaction, type Txn } from './transaction.js'

/** In their order, each with the member that passes it. */
export const commitSteps = {
  coordinating: 'coordinator',
  'participants-written': 'coordinator',
  preparing: 'participant',
  prepared: 'participant',
  voted: 'coordinator',
  decided: 'coordinator',
  acknowledged: 'coordinator',
} as const

export type CommitStep = keyof typeof commitSteps
export const victims = ['coordinator', 'participant', 'router'] as const
export const moments = ['before', 'after'] as const
export const actions = ['crash', 'step down'] as const

export interface Interruption {
  readonly step: CommitStep
  readonly victim: (typeof victims)[number]
  readonly moment: (typeof moments)[number]
  readonly action: (typeof actions)[number]
  readonly members: 1 | 3
}

export const interruptions: readonly Interruption[] = (Object.keys(commitSteps) as CommitStep[]).flatMap((step) =>
  ([1, 3] as const).flatMap((members) =>
    victims.flatMap((victim) =>
      moments.flatMap((moment) =>
        actions
          .filter((action) => victim !== 'router' || action === 'crash')
          .map((action) => ({ step, victim, moment, action, members })),
      ),
    ),
  ),
)

export const nameOf = ({ step, victim, moment, action, members }: Interruption): string =>
  `${members === 1 ? 'sets of one' : 'sets of three'}: ${action} of the ${victim} ${moment} ${step}`

const sets = { coordinator: 'shard01', participant: 'shard02' } as const
const firstRouter = 'mongos01'
const otherRouter = 'mongos02'
/** Longer than the search for a primary; with sets of three, another one is elected meanwhile. */
const downMs = { 1: 20, 3: 15_000 } as const
const attemptsMax = 20
/** Longer than transactions live. */
const patienceMs = 120_000

export const set = (x: number, value: number): Document => ({
  update: 'things',
  updates: [{ q: { x }, u: { $set: { value } } }],
})

export async function values(cluster: SimulatedCluster): Promise<unknown[]> {
  const { cursor } = await ask(cluster, { find: 'things', sort: { x: 1 } }, otherRouter)
  return (cursor as { firstBatch: Document[] }).firstBatch.map(({ value }) => value ?? null)
}

/** The first shard is the coordinator. */
export async function writing(cluster: SimulatedCluster): Promise<Txn> {
  const txn = transaction(cluster, 1)
  await txn(set(-1, 5))
  await txn(set(1, 5))
  return txn
}

/** @returns what does not hold at the end */
export async function interrupt(
  t: Test,
  interruption: Interruption,
  options: SimulatedClusterOptions,
): Promise<string[]> {
  const { step, victim, moment, members } = interruption
  const sized = members === 1 ? {} : { members, serverTimings: false }
  const cluster = await start(t, { findReplicaSetHostTimeoutMs: 3000, ...sized, ...options })
  const txn = await writing(cluster)
  const addresses = cluster.membersOf(sets[commitSteps[step]])
  const hold = await cluster.steps.arm(`shard.transaction.${step}`, 'hold', { addresses, times: 1 })
  const committing = once(cluster, () => txn.commit(firstRouter))
  const held = await cluster.steps.struck(hold)
  const target =
    victim === 'router' ? firstRouter : victim === commitSteps[step] ? held : await primaryOf(cluster, sets[victim])
  // Nothing has happened after the step, or everything until the member waits again.
  if (moment === 'after') await cluster.steps.heal(hold)
  await strike(cluster, interruption, target)
  if (moment === 'before') await cluster.steps.heal(hold)
  await cluster.advance(downMs[members])
  if (interruption.action === 'crash') await cluster.restart(target)
  const first = await committing
  const reply = await settled(cluster, txn, first)
  return isSettled(reply) ? violationsOf(cluster, reply) : [`the outcome stays unknown: ${JSON.stringify(reply)}`]
}

async function strike(cluster: SimulatedCluster, { action }: Interruption, target: string): Promise<void> {
  if (action === 'crash') await cluster.crash(target)
  else await cluster.faults.apply(`step down ${target} for 1s`)
}

/** Null: no answer. */
async function once(cluster: SimulatedCluster, send: () => Promise<Document>): Promise<Document | null> {
  const late = createDeferred<null>()
  const alarm = cluster.alarm(patienceMs, () => late.resolve(null))
  try {
    return await cluster.during(Promise.race([send(), late.promise]))
  } catch (error) {
    if (error instanceof RequestFailedError) return null
    throw error
  } finally {
    alarm.cancel()
  }
}

const isSettled = (reply: Document | null): reply is Document =>
  reply !== null && ((reply['ok'] === 1 && reply['writeConcernError'] === undefined) || reply['code'] === 251)

/** As drivers do, the commit is repeated on another router until its outcome is known. */
async function settled(cluster: SimulatedCluster, txn: Txn, first: Document | null): Promise<Document | null> {
  let reply = first
  for (let attempt = 0; !isSettled(reply) && attempt < attemptsMax; attempt++) {
    await cluster.advance(200)
    reply = await once(cluster, () => txn.commit(otherRouter, { recoveryToken: txn.token }))
  }
  return reply
}

/**
 * All members are up: every writer gets its turn, no record of a commit is left, and no transaction
 * or command of one is open.
 * @returns what does not hold
 */
export async function violationsOf(cluster: SimulatedCluster, reply: Document): Promise<string[]> {
  await cluster.advance(20_000)
  const found: string[] = []
  const [, left, right] = await values(cluster)
  if (left !== right) found.push(`a half: ${String(left)} and ${String(right)}`)
  else if (left !== (reply['ok'] === 1 ? 5 : null)) found.push(`${String(left)} after ${JSON.stringify(reply)}`)
  for (const x of [-1, 1]) {
    const written = await ask(cluster, { ...set(x, 9), maxTimeMS: 100_000 }, otherRouter)
    if (written['n'] !== 1) found.push(`the document ${x} is held: ${JSON.stringify(written)}`)
  }
  const count = { count: 'transaction_coordinators', $db: 'config', $readPreference: { mode: 'nearest' } }
  const members = Object.values(sets).flatMap((shard) => cluster.membersOf(shard))
  for (const member of members) {
    const { n } = await ask(cluster, count, member)
    if (n !== 0) found.push(`${member} has a record of a commit`)
    const { transactions } = await ask(cluster, { serverStatus: 1, $db: 'admin' }, member)
    const { currentOpen, currentPrepared } = transactions as Document
    if (Number(currentOpen) + Number(currentPrepared) > 0) found.push(`a transaction is open on ${member}`)
  }
  for (const member of [...cluster.mongos, ...members]) {
    const { inprog } = await ask(cluster, { currentOp: 1, $db: 'admin' }, member)
    for (const { command } of inprog as Document[])
      if (/Transaction/.test(Object.keys(command ?? {})[0] ?? ''))
        found.push(`a command waits on ${member}: ${JSON.stringify(command)}`)
  }
  return found
}
