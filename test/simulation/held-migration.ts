/** A simulated cluster with two sharded collections, and migrations that are held at a step. */
import type { Test } from 'tap'
import { createRandom } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import { PatientClient } from './patient-client.js'

export const [donor, recipient, third] = ['shard01', 'shard02', 'shard03'] as const

export async function start(
  t: Test,
  shards: number,
  emulate: EmulatedVersion = '7.0',
): Promise<{ cluster: SimulatedCluster; run: (command: Document, to?: string) => Promise<Document> }> {
  const cluster = await createSimulatedCluster({
    seed: 1,
    shards,
    mongos: 1,
    emulate,
    findReplicaSetHostTimeoutMs: 1000,
  })
  t.teardown(() => cluster.stop())
  const run = async (command: Document, to?: string) =>
    decode(
      await cluster.command(encode({ ...command, $db: command['$db'] ?? 'admin' }), to === undefined ? {} : { to }),
    )
  const admin = new PatientClient(cluster, createRandom(1))
  await admin.untilDone({ enableSharding: 'app', primaryShard: donor, $db: 'admin' })
  for (const name of ['c', 'e']) {
    await run({ shardCollection: `app.${name}`, key: { k: 1 } })
    await run({ insert: name, documents: Array.from({ length: 20 }, (_, i) => ({ _id: i, k: i, n: 0 })), $db: 'app' })
    await run({ split: `app.${name}`, middle: { k: 10 } })
  }
  return { cluster, run }
}

/** Starts a migration. Resolves when it is held at the step. */
export async function heldAt(
  cluster: SimulatedCluster,
  step: string,
  start: () => Promise<Document>,
): Promise<{ reply: Promise<Document>; release: () => Promise<void> }> {
  const fault = await cluster.steps.arm(step, 'hold', { times: 1 })
  const reply = start()
  let struck = false
  void cluster.steps.struck(fault).then(() => {
    struck = true
  })
  for (let ms = 0; !struck; ms++) {
    if (ms > 5000) throw new Error(`${step} was not reached: ${JSON.stringify(await reply)}`)
    await cluster.advance(1)
  }
  return { reply, release: () => cluster.steps.heal(fault) }
}

export const move = (name: string, k: number, to: string): Document => ({ moveChunk: `app.${name}`, find: { k }, to })
