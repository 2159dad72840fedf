/**
 * A document of config.reshardingOperations. Server: coordinator_document.idl,
 * resharding/common_types.idl.
 */
import type { ReshardingProvenance, TimestampPair } from '@shardlab/actor'
import { arrayIndexName, BsonType, DocumentWriter, elementsOf, findField, type RawValue } from '@shardlab/bson'
import { provenanceOf, type NamedRange } from './request.js'

export type CoordinatorState =
  | 'initializing'
  | 'preparing-to-donate'
  | 'cloning'
  | 'applying'
  | 'blocking-writes'
  | 'aborting'
  | 'committing'
  | 'done'

export interface ReshardingOperation {
  readonly provenance: ReshardingProvenance
  /** UUID of the resharding, and of the collection after the commit. */
  readonly id: Uint8Array
  readonly ns: string
  readonly sourceUuid: Uint8Array
  readonly tempNs: string
  readonly key: Uint8Array
  readonly startedAtMs: number
  readonly state: CoordinatorState
  /** Estimate per recipient; null: unknown yet. */
  readonly approxSize: { readonly documents: number; readonly bytes: number } | null
  /** `{ code, codeName, errmsg }`; null: no failure. */
  readonly abortReason: Uint8Array | null
  readonly cloneTimestamp: TimestampPair | null
  readonly donors: readonly string[]
  readonly recipients: readonly string[]
  /** Of the new key, until its chunks are planned; null: unchanged. */
  readonly zones: readonly NamedRange[] | null
  /** The client's command. */
  readonly request: Uint8Array
}

export const operationsNs = 'config.reshardingOperations'

export function operationDocument(operation: ReshardingOperation): Uint8Array {
  const { approxSize, abortReason, cloneTimestamp, zones } = operation
  const writer = new DocumentWriter(1024)
    .uuid('_id', operation.id)
    .string('ns', operation.ns)
    .uuid('ui', operation.sourceUuid)
    .string('tempNs', operation.tempNs)
    .document('reshardingKey', operation.key)
    .date('startTime', operation.startedAtMs)
  if (operation.provenance !== null) writer.string('provenance', operation.provenance)
  if (approxSize !== null)
    writer.int64('approxDocumentsToCopy', approxSize.documents).int64('approxBytesToCopy', approxSize.bytes)
  if (abortReason !== null) writer.document('abortReason', abortReason)
  writer.string('state', operation.state)
  if (cloneTimestamp !== null) writer.timestamp('cloneTimestamp', cloneTimestamp[0], cloneTimestamp[1])
  writeShards(writer, 'donorShards', operation.donors, donorState(operation.state))
  writeShards(writer, 'recipientShards', operation.recipients, recipientState(operation.state))
  if (zones !== null) writeZones(writer, zones)
  return writer.bool('active', true).document('request', operation.request).finish()
}

/** @returns null: a client has corrupted the document */
export function parseOperation(document: Uint8Array): ReshardingOperation | null {
  const [id, ui, state, request] = ['_id', 'ui', 'state', 'request'].map((name) => findField(document, name))
  const [ns, tempNs, key, startTime] = ['ns', 'tempNs', 'reshardingKey', 'startTime'].map((name) =>
    findField(document, name),
  )
  if (
    id?.type !== BsonType.binary ||
    ui?.type !== BsonType.binary ||
    state?.type !== BsonType.string ||
    request?.type !== BsonType.object
  )
    return null
  if (ns?.type !== BsonType.string || tempNs?.type !== BsonType.string || key?.type !== BsonType.object) return null
  return {
    provenance: provenanceOf(request.slice()),
    id: uuidBytes(id),
    ns: ns.asString(),
    sourceUuid: uuidBytes(ui),
    tempNs: tempNs.asString(),
    key: key.slice(),
    startedAtMs: startTime?.type === BsonType.date ? Number(startTime.asBigInt()) : 0,
    state: state.asString() as CoordinatorState,
    approxSize: null,
    abortReason: findField(document, 'abortReason')?.slice() ?? null,
    cloneTimestamp: null,
    donors: shardsIn(document, 'donorShards'),
    recipients: shardsIn(document, 'recipientShards'),
    zones: zonesIn(findField(document, 'zones')),
    request: request.slice(),
  }
}

export function isUnsplittableAfter({ provenance }: ReshardingOperation): boolean {
  return provenance === 'moveCollection' || provenance === 'unshardCollection'
}

export function uuidBytes({ bytes, start, end }: RawValue): Uint8Array {
  return bytes.subarray(start + 5, end)
}

function donorState(state: CoordinatorState): string {
  const states: Partial<Record<CoordinatorState, string>> = {
    cloning: 'donating-initial-data',
    applying: 'donating-oplog-entries',
    'blocking-writes': 'blocking-writes',
    committing: 'done',
    aborting: 'error',
  }
  return states[state] ?? 'unused'
}

function recipientState(state: CoordinatorState): string {
  const states: Partial<Record<CoordinatorState, string>> = {
    cloning: 'cloning',
    applying: 'applying',
    'blocking-writes': 'applying',
    committing: 'done',
    aborting: 'error',
  }
  return states[state] ?? 'unused'
}

function writeShards(writer: DocumentWriter, name: string, shards: readonly string[], state: string): void {
  writer.startArray(name)
  shards.forEach((shard, i) =>
    writer
      .startDocument(arrayIndexName(i))
      .string('id', shard)
      .startDocument('mutableState')
      .string('state', state)
      .end()
      .end(),
  )
  writer.end()
}

function writeZones(writer: DocumentWriter, zones: readonly NamedRange[]): void {
  writer.startArray('zones')
  zones.forEach(({ name, min, max }, i) =>
    writer.startDocument(arrayIndexName(i)).string('zone', name).document('min', min).document('max', max).end(),
  )
  writer.end()
}

function shardsIn(document: Uint8Array, name: string): string[] {
  const array = findField(document, name)
  return array?.type === BsonType.array
    ? elementsOf(array).map((each) => findField(each.bytes, 'id', each.start)!.asString())
    : []
}

function zonesIn(array: RawValue | undefined): NamedRange[] | null {
  if (array?.type !== BsonType.array) return null
  return elementsOf(array).map((each) => {
    const field = (name: string) => findField(each.bytes, name, each.start)!
    return { name: field('zone').asString(), min: field('min').slice(), max: field('max').slice() }
  })
}
