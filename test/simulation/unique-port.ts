/** The ports of `@shardlab/unique` over a simulated client: every operation is sent once, as a client without retries would. */
import { createDeferred } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { PortError, type Clock, type Fields, type ReadablePort } from '@shardlab/unique'
import type { PatientClient } from './patient-client.js'

/** Answers that say nothing about what was done: members that are away, going away, or coming back. */
const uncertain: ReadonlySet<number> = new Set([6, 65, 91, 133, 189, 10107, 11600, 11602, 13436])

/** A client that stops for good after that many commands, before or after the last one takes effect. */
export interface Stop {
  commandsLeft: number
  readonly after: boolean
  readonly stopped: ReturnType<typeof createDeferred<void>>
}

export function simulatedPort(client: PatientClient, db: string, collection: string, stop: Stop | null): ReadablePort {
  const send = async (command: Document, documents: readonly Document[] = [], field?: string): Promise<Document> => {
    if (stop !== null && stop.commandsLeft-- <= 0) {
      if (stop.after && stop.commandsLeft === -1) await client.once({ ...command, $db: db }, documents, field)
      stop.stopped.resolve()
      return new Promise(() => {})
    }
    const reply = await client.once({ ...command, $db: db }, documents, field)
    if (reply === null) throw new PortError('unknown', 'no answer')
    const error = reply['ok'] === 1 ? ((reply['writeErrors'] as Document[] | undefined) ?? [])[0] : reply
    if (error === undefined) return reply
    const code = Number(error['code'])
    const kind = code === 11000 ? 'duplicate' : uncertain.has(code) ? 'unknown' : null
    if (kind === null) throw new Error(`${Object.keys(command)[0]} of ${collection} failed with ${code} ${error['errmsg']}`)
    throw new PortError(kind, error['errmsg'])
  }
  const first = async (filter: Fields): Promise<Fields | null> =>
    ((await send({ find: collection, filter, limit: 1, singleBatch: true }))['cursor'].firstBatch as Fields[])[0] ?? null
  return {
    insertOne: async (document) => void (await send({ insert: collection }, [document as Document], 'documents')),
    findOne: first,
    updateOne: async (filter, update) => (await send({ update: collection }, [{ q: filter, u: update }], 'updates'))['n'],
    deleteOne: async (filter) => (await send({ delete: collection }, [{ q: filter, limit: 1 }], 'deletes'))['n'],
    findOneAndUpdate: async (filter, update) => (await send({ findAndModify: collection, query: filter, update, new: true }))['value'],
    async *find(filter) {
      yield* (await send({ find: collection, filter, batchSize: 10_000 }))['cursor'].firstBatch as Fields[]
    },
  }
}

export const simulatedClock = (cluster: SimulatedCluster): Clock => ({
  now: () => cluster.now(),
  sleep: (durationMs) => cluster.advance(durationMs),
})
