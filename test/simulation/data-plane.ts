/**
 * Work of applications beyond plain inserts and updates, from a seed, while members crash and
 * restart.
 */
import { createRandom, type Random } from '@shardlab/actor'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { Activity, Worker } from './activities/activity.js'
import { CappedLog } from './activities/capped.js'
import { Counters } from './activities/counters.js'
import { Definitions } from './activities/definitions.js'
import { Documents } from './activities/documents.js'
import { Expiring } from './activities/expiring.js'
import { Queue } from './activities/queue.js'
import { Rotation } from './activities/rotation.js'
import { UniqueNames } from './activities/unique.js'
import { PatientClient } from './patient-client.js'
import { CrashDriver } from './crash-driver.js'

export interface Outcome {
  readonly traceHash: string
  readonly violations: readonly string[]
  readonly crashes: number
}

const workers = 4
const stepsOfWorker = 60

/** Plays one seed. @throws Error when a client got a wrong reply */
export async function playDataPlane(seed: number): Promise<Outcome> {
  const cluster = await createSimulatedCluster({
    seed,
    shards: 3,
    mongos: 2,
    emulate: '8.0',
    findReplicaSetHostTimeoutMs: 1000,
  })
  const random = createRandom(seed).fork('data plane')
  const documents = new Documents()
  const activities: readonly Activity[] = [
    documents,
    new Counters(),
    new Queue(),
    new UniqueNames(),
    new Rotation(),
    new CappedLog(),
    new Expiring(),
    new Definitions(),
  ]
  const admin = new PatientClient(cluster, random.fork('preparation'))
  for (const activity of activities) await activity.prepare(admin)
  const crashDriver = new CrashDriver(cluster, random, workers)
  const work = Array.from({ length: workers }, (_, i) => {
    const worker = createWorker(cluster, random.fork(`worker ${i + 1}`), i + 1, crashDriver)
    return goToWork(worker, [...activities, documents, documents]).finally(() => crashDriver.clientDone())
  })
  await Promise.all([...work, crashDriver.run()])
  const violations: string[] = []
  for (const activity of activities) violations.push(...(await activity.violations(admin)))
  await cluster.stop()
  return { traceHash: cluster.traceHash(), violations, crashes: crashDriver.crashes }
}

function createWorker(cluster: SimulatedCluster, random: Random, number: number, crashDriver: CrashDriver): Worker {
  let nextKey = number * 10_000
  return {
    number,
    random,
    client: new PatientClient(cluster, random.fork('session'), () => crashDriver.sent()),
    newKeys: (count) => Array.from({ length: count }, () => nextKey++),
  }
}

async function goToWork(worker: Worker, activities: readonly Activity[]): Promise<void> {
  for (let i = 0; i < stepsOfWorker; i++) {
    await activities[worker.random.below(activities.length)]!.step(worker)
    await worker.client.pause(worker.random.chance(1, 20) ? 200 : 2)
  }
}
