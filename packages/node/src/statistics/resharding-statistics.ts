/**
 * Since the start of the member, in shardingStatistics of serverStatus. Server:
 * sharding_data_transform_cumulative_metrics.cpp, resharding_cumulative_metrics.cpp.
 */
import type { ReshardingProvenance } from '@shardlab/actor'
import type { DocumentWriter } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

type Format = Exclude<Behaviours['reshardingStatistics'], 'none'>

/** The work of a recipient, in one attempt or in all. */
export interface ReceivedInResharding {
  readonly documents: number
  readonly bytes: number
  readonly fetched: number
  readonly inserts: number
  readonly updates: number
  readonly deletes: number
  readonly waits: number
}

/** For example `Coordinator cloning`, `Donor blocking-writes`, `Recipient applying`. */
export type ReshardingStates = readonly string[]

const coordinatorStates = [
  'initializing',
  'preparing-to-donate',
  'cloning',
  'applying',
  'blocking-writes',
  'aborting',
  'committing',
]
const donorStates = [
  ...[
    'preparing-to-donate',
    'donating-initial-data',
    'donating-oplog-entries',
    'preparing-to-block-writes',
    'error',
    'blocking-writes',
  ],
  'done',
]
const recipientStates = [
  'awaiting-fetch-timestamp',
  'creating-collection',
  'cloning',
  'applying',
  'error',
  'strict-consistency',
  'done',
]
const recipientStatesWithIndexes = recipientStates.toSpliced(3, 0, 'building-index')

class Section {
  readonly counts = { Started: 0, Succeeded: 0, Failed: 0, Canceled: 0 }
  readonly sameKey = { Started: 0, Succeeded: 0, Failed: 0, Canceled: 0 }
  imbalance = 0
  received: ReceivedInResharding = nothingReceived
}

const nothingReceived: ReceivedInResharding = {
  documents: 0,
  bytes: 0,
  fetched: 0,
  inserts: 0,
  updates: 0,
  deletes: 0,
  waits: 0,
}

export class ReshardingStatistics {
  /** A section exists since the first operation of its kind. */
  readonly #sections = new Map<string, Section>()

  recordStart(provenance: ReshardingProvenance): void {
    this.#of(provenance)
  }

  /**
   * For coordinators only.
   * @param sameKey whether the shard key stays the same
   */
  count(
    provenance: ReshardingProvenance,
    what: 'Started' | 'Succeeded' | 'Failed' | 'Canceled',
    sameKey: boolean,
  ): void {
    const section = this.#of(provenance)
    section.counts[what]++
    if (sameKey && reshardingSectionOf(provenance) === 'resharding') section.sameKey[what]++
  }

  /**
   * @param chunks difference between the most and the fewest chunks of a shard at the last commit
   */
  recordImbalance(provenance: ReshardingProvenance, chunks: number): void {
    this.#of(provenance).imbalance = chunks
  }

  add(provenance: ReshardingProvenance, received: ReceivedInResharding): void {
    const section = this.#of(provenance)
    section.received = sumOf(section.received, received)
  }

  /** @param now the work in progress of a section */
  write(
    writer: DocumentWriter,
    format: Behaviours['reshardingStatistics'],
    now: (name: string) => { readonly received: readonly ReceivedInResharding[]; readonly states: ReshardingStates },
  ): void {
    if (format === 'none') return
    for (const [name, section] of this.#sections) {
      const { received, states } = now(name)
      const { counts, sameKey, imbalance } = section
      writer.startDocument(name)
      for (const [what, count] of Object.entries(counts)) writer.int64(`count${what}`, count)
      writer.int64('lastOpEndingChunkImbalance', imbalance)
      if (format === 'same-key' && name === 'resharding')
        for (const [what, count] of Object.entries(sameKey)) writer.int64(`countSameKey${what}`, count)
      writeActive(writer, format, received.reduce(sumOf, section.received))
      writeEstimates(writer, format)
      writeLatencies(writer)
      writeSteps(writer, format, states)
      writer.end()
    }
  }

  #of(provenance: ReshardingProvenance): Section {
    const name = reshardingSectionOf(provenance)
    const known = this.#sections.get(name)
    if (known !== undefined) return known
    const section = new Section()
    this.#sections.set(name, section)
    return section
  }
}

export function reshardingSectionOf(provenance: ReshardingProvenance): string {
  return provenance === null || provenance === 'reshardCollection' ? 'resharding' : provenance
}

function sumOf(one: ReceivedInResharding, other: ReceivedInResharding): ReceivedInResharding {
  return {
    documents: one.documents + other.documents,
    bytes: one.bytes + other.bytes,
    fetched: one.fetched + other.fetched,
    inserts: one.inserts + other.inserts,
    updates: one.updates + other.updates,
    deletes: one.deletes + other.deletes,
    waits: one.waits + other.waits,
  }
}

function writeActive(writer: DocumentWriter, format: Format, received: ReceivedInResharding): void {
  const writeOperations = (): void => {
    writer.int64('oplogEntriesFetched', received.fetched).int64('oplogEntriesApplied', received.fetched)
    writer
      .int64('insertsApplied', received.inserts)
      .int64('updatesApplied', received.updates)
      .int64('deletesApplied', received.deletes)
  }
  writer.startDocument('active').int64('documentsCopied', received.documents).int64('bytesCopied', received.bytes)
  if (format === 'operations-first') writeOperations()
  writer
    .int64('countWritesToStashCollections', received.waits)
    .int64('countWritesDuringCriticalSection', 0)
    .int64('countReadsDuringCriticalSection', 0)
  if (format !== 'operations-first') writeOperations()
  writer.end()
}

/** No estimates are made. */
function writeEstimates(writer: DocumentWriter, format: Format): void {
  const unknown = format === 'same-key' ? -1 : 0
  writer
    .startDocument('oldestActive')
    .int64('coordinatorAllShardsHighestRemainingOperationTimeEstimatedMillis', unknown)
    .int64('coordinatorAllShardsLowestRemainingOperationTimeEstimatedMillis', unknown)
    .int64('recipientRemainingOperationTimeEstimatedMillis', unknown)
    .end()
}

/** Batches are not timed. */
function writeLatencies(writer: DocumentWriter): void {
  writer
    .startDocument('latencies')
    .int64('collectionCloningTotalRemoteBatchRetrievalTimeMillis', 0)
    .int64('collectionCloningTotalRemoteBatchesRetrieved', 0)
    .int64('collectionCloningTotalLocalInsertTimeMillis', 0)
    .int64('collectionCloningTotalLocalInserts', 0)
    .int64('oplogFetchingTotalRemoteBatchRetrievalTimeMillis', 0)
    .int64('oplogFetchingTotalRemoteBatchesRetrieved', 0)
    .int64('oplogFetchingTotalLocalInsertTimeMillis', 0)
    .int64('oplogFetchingTotalLocalInserts', 0)
    .int64('oplogApplyingTotalLocalBatchRetrievalTimeMillis', 0)
    .int64('oplogApplyingTotalLocalBatchesRetrieved', 0)
    .int64('oplogApplyingTotalLocalBatchApplyTimeMillis', 0)
    .int64('oplogApplyingTotalLocalBatchesApplied', 0)
    .end()
}

function writeSteps(writer: DocumentWriter, format: Format, states: ReshardingStates): void {
  const writeRole = (role: string, names: readonly string[]): void =>
    names.forEach((name, i) => {
      const words = name.split('-').map((word) => word[0]!.toUpperCase() + word.slice(1))
      const count = states.filter((state) => state === `${role} ${name}`).length
      writer.int64(`countInstancesIn${role}State${i + 1}${words.join('')}`, count)
    })
  writer.startDocument('currentInSteps')
  writeRole('Coordinator', coordinatorStates)
  if (format === 'same-key') writeRole('Donor', donorStates)
  writeRole('Recipient', format === 'same-key' ? recipientStatesWithIndexes : recipientStates)
  if (format !== 'same-key') writeRole('Donor', donorStates)
  writer.end()
}
