/**
 * What a shard has begun and not finished, on its disk: as a donor, as a recipient, and as the coordinator of the command.
 * Server: donor_document.idl, recipient_document.idl, reshard_collection_coordinator_document.idl.
 */
import type { ReshardingProvenance } from '@shardlab/actor'
import { DocumentWriter, findField, uuidValue, type RawValue } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import { RecordStore } from '../record-store.js'

/** What all parties of an attempt know of it. */
export interface ReshardingFacts {
  readonly provenance: ReshardingProvenance
  readonly id: Uint8Array
  readonly attempt: number
  readonly ns: string
  readonly tempNs: string
  readonly sourceUuid: Uint8Array
  readonly key: Uint8Array
  readonly startedAtMs: number
}

export type DonorState = 'donating-initial-data' | 'donating-oplog-entries' | 'blocking-writes'
export type RecipientState = 'creating-collection' | 'cloning' | 'applying' | 'strict-consistency'

export interface ParticipantRecord<State extends string> {
  readonly facts: ReshardingFacts
  readonly state: State
  /** Of a donor its recipients, of a recipient its donors. */
  readonly others: readonly string[]
}

class ParticipantRecords<State extends string> {
  readonly #store: RecordStore
  readonly #othersField: string

  constructor(node: StorageNode, role: 'donor' | 'recipient', othersField: string) {
    this.#store = new RecordStore(node, `config.localReshardingOperations.${role}`)
    this.#othersField = othersField
  }

  all(): ParticipantRecord<State>[] {
    return this.#store.all().map((document) => this.#parse(document))
  }

  /** {@link StorageNode.flush} follows. */
  put({ facts, state, others }: ParticipantRecord<State>): void {
    const writer = new DocumentWriter(512)
      .uuid('_id', facts.id)
      .string('ns', facts.ns)
      .uuid('ui', facts.sourceUuid)
      .string('tempNs', facts.tempNs)
      .document('reshardingKey', facts.key)
      .date('startTime', facts.startedAtMs)
    if (facts.provenance !== null) writer.string('provenance', facts.provenance)
    writer.startDocument('mutableState').string('state', state).end().startArray(this.#othersField)
    others.forEach((shard, i) => writer.string(String(i), shard))
    this.#store.put(writer.end().int64('attempt', facts.attempt).finish())
  }

  /** No error when it is not there. {@link StorageNode.flush} follows. */
  remove(id: Uint8Array): void {
    this.#store.remove(uuidValue(id))
  }

  #parse(document: Uint8Array): ParticipantRecord<State> {
    const mutableState = findField(document, 'mutableState')!
    const others = findField(document, this.#othersField)!
    const names: string[] = []
    for (let i = 0, each = at(others, i); each !== undefined; each = at(others, ++i)) names.push(each.asString())
    return {
      facts: {
        provenance: (findField(document, 'provenance')?.asString() ?? null) as ReshardingProvenance,
        id: findField(document, '_id')!.asBinary(),
        attempt: findField(document, 'attempt')!.asNumber(),
        ns: findField(document, 'ns')!.asString(),
        tempNs: findField(document, 'tempNs')!.asString(),
        sourceUuid: findField(document, 'ui')!.asBinary(),
        key: findField(document, 'reshardingKey')!.slice(),
        startedAtMs: Number(findField(document, 'startTime')!.asBigInt()),
      },
      state: findField(mutableState.bytes, 'state', mutableState.start)!.asString() as State,
      others: names,
    }
  }
}

export class DonorRecords extends ParticipantRecords<DonorState> {
  constructor(node: StorageNode) {
    super(node, 'donor', 'recipientShards')
  }
}

export class RecipientRecords extends ParticipantRecords<RecipientState> {
  constructor(node: StorageNode) {
    super(node, 'recipient', 'donorShards')
  }
}

/** A command that the primary shard is carrying out. */
export interface CommandRecord {
  readonly id: Uint8Array
  readonly ns: string
  readonly request: Uint8Array
}

const operationType = 'reshardCollection'

export class CommandRecords {
  readonly #store: RecordStore

  constructor(node: StorageNode) {
    this.#store = new RecordStore(node, 'config.system.sharding_ddl_coordinators')
  }

  all(): CommandRecord[] {
    return this.#store.all().flatMap((document) => {
      const id = findField(document, '_id')!
      if (findField(id.bytes, 'operationType', id.start)?.asString() !== operationType) return []
      const ns = findField(id.bytes, 'namespace', id.start)!.asString()
      return [{ id: findField(document, 'reshardingUUID')!.asBinary(), ns, request: findField(document, 'request')!.slice() }]
    })
  }

  /** {@link StorageNode.flush} follows. */
  put({ id, ns, request }: CommandRecord): void {
    this.#store.put(new DocumentWriter(512).value('_id', recordId(ns)).uuid('reshardingUUID', id).document('request', request).finish())
  }

  /** {@link StorageNode.flush} follows. */
  remove({ ns }: CommandRecord): void {
    this.#store.remove(recordId(ns))
  }
}

function recordId(ns: string): RawValue {
  const document = new DocumentWriter(96).startDocument('_id').string('namespace', ns).string('operationType', operationType).end().finish()
  return findField(document, '_id')!
}

function at(array: RawValue, i: number): RawValue | undefined {
  return findField(array.bytes, String(i), array.start)
}
