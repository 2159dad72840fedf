/**
 * findAndModify as a queue, without the shard key: each job is taken once, and removed by one
 * client.
 */
import type { PatientClient } from '../patient-client.js'
import { contentsOf, mustHold, type Activity, type Worker } from './activity.js'

const queues = ['jobs', 'plainJobs'] as const

interface Job {
  readonly _id: number
  readonly taker?: number
}

export class Queue implements Activity {
  /** The client that a job was assigned to; 0: none yet. */
  readonly #takers: Record<(typeof queues)[number], Map<number, number>> = { jobs: new Map(), plainJobs: new Map() }
  readonly #removed: Record<(typeof queues)[number], Set<number>> = { jobs: new Set(), plainJobs: new Set() }

  async prepare(client: PatientClient): Promise<void> {
    await client.untilDone({ shardCollection: 'app.jobs', key: { _id: 'hashed' }, $db: 'admin' })
    for (const ns of queues)
      await client.untilDone({ createIndexes: ns, indexes: [{ key: { at: 1 }, name: 'at_1' }], $db: 'app' })
  }

  async step({ client, random, number, newKeys }: Worker): Promise<void> {
    const ns = queues[random.below(queues.length)]!
    const [takers, removed] = [this.#takers[ns], this.#removed[ns]]
    const choice = random.below(5)
    if (choice < 2) {
      const documents = newKeys(1 + random.below(3)).map((_id) => ({ _id, at: _id }))
      // Another client may take it before this one receives the reply.
      for (const { _id } of documents) takers.set(_id, 0)
      await client.writeRetryably({ command: { insert: ns, $db: 'app' }, documents, field: 'documents' })
    } else if (choice < 4) {
      const command = {
        findAndModify: ns,
        query: { taker: null },
        sort: { at: 1 },
        update: { $set: { taker: number } },
        $db: 'app',
      }
      const { value } = await client.retryably(command, (reply) => (reply['value']?._id as number | undefined) ?? null)
      if (value === null) return
      mustHold(
        takers.get(value._id) === 0,
        () => `${ns} ${value._id} was taken by ${takers.get(value._id)} and by ${number}`,
      )
      takers.set(value._id, number)
    } else {
      const command = { findAndModify: ns, query: { taker: number }, sort: { at: -1 }, remove: true, $db: 'app' }
      const { value } = await client.retryably(command, (reply) => (reply['value']?._id as number | undefined) ?? null)
      if (value === null) return
      mustHold(
        takers.get(value._id) === number,
        () => `${ns} ${value._id} is of ${takers.get(value._id)}, ${number} removed it`,
      )
      mustHold(!removed.has(value._id), () => `${ns} ${value._id} was removed twice`)
      removed.add(value._id)
    }
  }

  async violations(client: PatientClient): Promise<string[]> {
    const wrong: string[] = []
    for (const ns of queues) {
      const found = new Map((await contentsOf<Job>(client, ns)).map((job) => [job._id, job]))
      for (const [_id, taker] of this.#takers[ns]) {
        const job = found.get(_id)
        if ((job === undefined) !== this.#removed[ns].has(_id))
          wrong.push(`${ns} ${_id} is ${job === undefined ? 'gone' : 'there'}`)
        if (job !== undefined && (job.taker ?? 0) !== taker)
          wrong.push(`${ns} ${_id} is of ${job.taker}, ${taker} was told so`)
      }
    }
    return wrong
  }
}
