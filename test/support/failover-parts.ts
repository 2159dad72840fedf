/** The time from the crash of a primary to the next acknowledged write, in parts. */
import { MongoClient, ReadPreference, type Document } from 'mongodb'

export interface Failover {
  readonly crashedAtMs: number
  readonly writtenAtMs: number
  /** Connection string of the set. */
  readonly setUri: string
}

/** One line, such as for a report. */
export async function failoverParts({ crashedAtMs, writtenAtMs, setUri }: Failover): Promise<string> {
  const { lastElectionDate, newTermStartDate, wMajorityWriteAvailabilityDate } = await candidateMetrics(setUri)
  const moments: readonly (readonly [what: string, atMs: number])[] = [
    ['until a member is elected', lastElectionDate.getTime()],
    ['until its first entry', newTermStartDate.getTime()],
    ['until a majority has it', wMajorityWriteAvailabilityDate.getTime()],
    ['until a client has a write', writtenAtMs],
  ]
  let beforeMs = crashedAtMs
  const parts = moments.map(([what, atMs]) => {
    const part = `${Math.max(0, atMs - beforeMs)} ms ${what}`
    beforeMs = Math.max(beforeMs, atMs)
    return part
  })
  return `${writtenAtMs - crashedAtMs} ms to a new primary: ${parts.join(', ')}`
}

async function candidateMetrics(uri: string): Promise<Document> {
  const client = await MongoClient.connect(uri)
  try {
    const primary = { readPreference: ReadPreference.PRIMARY }
    const { electionCandidateMetrics } = await client.db('admin').command({ replSetGetStatus: 1 }, primary)
    return electionCandidateMetrics as Document
  } finally {
    await client.close()
  }
}
