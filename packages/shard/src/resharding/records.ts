/**
 * Records on a shard's disk: of donors, of recipients, and of coordinators of the command.
 * Server: donor_document.idl, recipient_document.idl, reshard_collection_coordinator_document.idl.
 */
import type { ReshardingProvenance } from '@shardlab/actor'
import { DocumentWriter, findField, uuidValue, type RawValue } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { ddlRecordId, ddlRecordKey, ddlRecordsNs } from '../coordinators/ddl-records.js'
import { Records, type RecordShape } from '../common/record-store.js'

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
  /** The recipients of a donor, or the donors of a recipient. */
  readonly others: readonly string[]
}

function participantShape<State extends string>(
  role: 'donor' | 'recipient',
  othersField: string,
): RecordShape<ParticipantRecord<State>, Uint8Array> {
  return {
    ns: `config.localReshardingOperations.${role}`,
    id: uuidValue,
    write: (record) => writeParticipant(record, othersField),
    read: (document) => parseParticipant(document, othersField),
  }
}

function writeParticipant({ facts, state, others }: ParticipantRecord<string>, othersField: string): Uint8Array {
  const writer = new DocumentWriter(512)
    .uuid('_id', facts.id)
    .string('ns', facts.ns)
    .uuid('ui', facts.sourceUuid)
    .string('tempNs', facts.tempNs)
    .document('reshardingKey', facts.key)
    .date('startTime', facts.startedAtMs)
  if (facts.provenance !== null) writer.string('provenance', facts.provenance)
  writer.startDocument('mutableState').string('state', state).end().startArray(othersField)
  others.forEach((shard, i) => writer.string(String(i), shard))
  return writer.end().int64('attempt', facts.attempt).finish()
}

function parseParticipant<State extends string>(document: Uint8Array, othersField: string): ParticipantRecord<State> {
  const mutableState = findField(document, 'mutableState')!
  const others = findField(document, othersField)!
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

export class DonorRecords extends Records<ParticipantRecord<DonorState>, Uint8Array> {
  constructor(node: NodeHost) {
    super(node, participantShape('donor', 'recipientShards'))
  }
}

export class RecipientRecords extends Records<ParticipantRecord<RecipientState>, Uint8Array> {
  constructor(node: NodeHost) {
    super(node, participantShape('recipient', 'donorShards'))
  }
}

/** A command that the primary shard coordinates. */
export interface CommandRecord {
  readonly id: Uint8Array
  readonly ns: string
  readonly request: Uint8Array
  /** Before the resharding, for change streams. */
  readonly oldUuid: Uint8Array
  readonly oldShardKey: Uint8Array
}

export class CommandRecords extends Records<CommandRecord, Pick<CommandRecord, 'ns'>> {
  constructor(node: NodeHost) {
    super(node, {
      ns: ddlRecordsNs,
      id: ({ ns }) => ddlRecordId(operation, ns),
      write: writeCommand,
      read: parseCommand,
    })
  }
}

const operation = 'reshardCollection'

function writeCommand({ id, ns, request, oldUuid, oldShardKey }: CommandRecord): Uint8Array {
  return new DocumentWriter(512)
    .value('_id', ddlRecordId(operation, ns))
    .uuid('reshardingUUID', id)
    .document('request', request)
    .document('oldShardKey', oldShardKey)
    .uuid('oldCollectionUUID', oldUuid)
    .finish()
}

function parseCommand(document: Uint8Array): CommandRecord | undefined {
  const key = ddlRecordKey(document)
  if (key.operation !== operation) return undefined
  return {
    id: findField(document, 'reshardingUUID')!.asBinary(),
    ns: key.ns,
    request: findField(document, 'request')!.slice(),
    oldUuid: findField(document, 'oldCollectionUUID')!.asBinary(),
    oldShardKey: findField(document, 'oldShardKey')!.slice(),
  }
}

function at(array: RawValue, i: number): RawValue | undefined {
  return findField(array.bytes, String(i), array.start)
}
