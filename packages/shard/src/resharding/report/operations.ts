/**
 * Server: resharding_metrics.cpp, sharding_data_transform_instance_metrics.cpp.
 * Manual: reference/operator/aggregation/currentOp.
 */
import { DocumentWriter } from '@shardlab/bson'
import { uuidText } from '@shardlab/member'
import type { Participation } from '../participant/participation.js'
import type { ReshardingRecipient } from '../participant/resharding-recipient.js'
import type { ReshardingReportHost } from './report-host.js'

type Role = 'Donor' | 'Recipient'

/** @param shard for requests of routers; null: a direct connection */
export function* reshardingOperations(
  { node, reshardings }: ReshardingReportHost,
  shard: string | null,
): Generator<Uint8Array> {
  const { behaviours, context } = node
  const write = { status: writeStatus, instance: writeInstance, phases: writePhases, 'index-build': writePhases }[
    behaviours.reshardingReport
  ]
  for (const participation of reshardings.all()) {
    for (const role of ['Donor', 'Recipient'] as const) {
      if ((role === 'Donor' ? participation.donor : participation.recipient) === null) continue
      const writer = new DocumentWriter(1024)
      if (shard !== null) writer.string('shard', shard)
      write(writer, {
        participation,
        role,
        nowMs: context.now(),
        withIndexBuild: behaviours.reshardingReport === 'index-build',
      })
      yield writer.finish()
    }
  }
}

interface Reported {
  readonly participation: Participation
  readonly role: Role
  readonly nowMs: number
  readonly withIndexBuild: boolean
}

function writeStatus(writer: DocumentWriter, reported: Reported): void {
  const { participation, role } = reported
  begin(writer, reported, `Resharding${role}Service`)
  writer.int64('totalOperationTimeElapsedSecs', elapsed(reported))
  if (role === 'Donor') {
    writer
      .int64('countWritesDuringCriticalSection', 0)
      .int64('totalCriticalSectionTimeElapsedSecs', criticalSection(reported))
      .string('donorState', donorState(participation))
  } else {
    const recipient = participation.recipient!
    writer.int64('remainingOperationTimeEstimatedSecs', remaining(recipient, reported.nowMs) ?? -1)
    writeCopied(writer, recipient)
    writer
      .int64('totalCopyTimeElapsedSecs', copying(reported))
      .int64('oplogEntriesFetched', recipient.fetched)
      .int64('oplogEntriesApplied', recipient.fetched)
      .int64('totalApplyTimeElapsedSecs', applying(reported))
      .string('recipientState', recipientState(recipient))
  }
  writer.string('opStatus', 'running')
}

function writeInstance(writer: DocumentWriter, reported: Reported): void {
  const { role } = reported
  writeCommon(writer, reported)
  if (role === 'Donor') {
    writer.int64('totalCriticalSectionTimeElapsedSecs', criticalSection(reported))
    writeDonorCounts(writer)
  } else {
    writer.int64('totalApplyTimeElapsedSecs', applying(reported)).int64('totalCopyTimeElapsedSecs', copying(reported))
    writeRecipientProgress(writer, reported)
    writeApplied(writer, reported.participation.recipient!)
  }
}

function writePhases(writer: DocumentWriter, reported: Reported): void {
  const { role, withIndexBuild } = reported
  writer.int64('totalCopyTimeElapsedSecs', copying(reported)).int64('totalApplyTimeElapsedSecs', applying(reported))
  writer.int64('totalCriticalSectionTimeElapsedSecs', criticalSection(reported))
  if (withIndexBuild) writer.int64('totalIndexBuildTimeElapsedSecs', 0)
  if (role === 'Recipient') {
    // Indexes are built before documents arrive.
    if (withIndexBuild) writer.int64('indexesToBuild', 0).int64('indexesBuilt', 0)
    writeApplied(writer, reported.participation.recipient!)
  }
  writeCommon(writer, reported)
  if (role === 'Donor') writeDonorCounts(writer)
  else writeRecipientProgress(writer, reported)
  const { provenance } = reported.participation.facts
  if (provenance !== null) writer.string('provenance', provenance)
}

function writeCommon(writer: DocumentWriter, reported: Reported): void {
  const { participation, role } = reported
  begin(writer, reported, `ReshardingMetrics${role}Service`)
  writer.int64('totalOperationTimeElapsedSecs', elapsed(reported))
  if (role === 'Donor') writer.string('donorState', donorState(participation))
  else writer.string('recipientState', recipientState(participation.recipient!))
}

function begin(writer: DocumentWriter, { participation }: Reported, service: string): void {
  const { id, ns, key } = participation.facts
  writer
    .string('type', 'op')
    .string('desc', `${service} ${uuidText(id)}`)
    .string('op', 'command')
    .string('ns', ns)
    .startDocument('originatingCommand')
    .string('reshardCollection', ns)
    .document('key', key)
    .bool('unique', false)
    .startDocument('collation')
    .string('locale', 'simple')
    .end()
    .end()
}

function writeDonorCounts(writer: DocumentWriter): void {
  writer.int64('countWritesDuringCriticalSection', 0).int64('countReadsDuringCriticalSection', 0)
}

function writeRecipientProgress(writer: DocumentWriter, { participation, nowMs }: Reported): void {
  const recipient = participation.recipient!
  const { received, copied, copiedBytes, documents } = recipient
  writer
    .int64('remainingOperationTimeEstimatedSecs', remaining(recipient, nowMs) ?? 0)
    .int64('approxDocumentsToCopy', received.approxDocuments)
    .int64('approxBytesToCopy', received.approxBytes)
    .int64('bytesCopied', copiedBytes)
    .int64('countWritesToStashCollections', documents?.waits ?? 0)
    .int64('documentsCopied', copied)
}

function writeCopied(writer: DocumentWriter, { received, copied, copiedBytes }: ReshardingRecipient): void {
  writer
    .int64('approxDocumentsToCopy', received.approxDocuments)
    .int64('documentsCopied', copied)
    .int64('approxBytesToCopy', received.approxBytes)
    .int64('bytesCopied', copiedBytes)
}

function writeApplied(writer: DocumentWriter, { fetched, copied, documents }: ReshardingRecipient): void {
  writer
    .int64('oplogEntriesFetched', fetched)
    .int64('oplogEntriesApplied', fetched)
    .int64('insertsApplied', Math.max(0, (documents?.inserted ?? 0) - copied))
    .int64('updatesApplied', documents?.updated ?? 0)
    .int64('deletesApplied', documents?.deleted ?? 0)
}

/** Seconds; null: unknown before the first batch. Server: estimateRemainingRecipientTime. */
function remaining({ phases, received, copiedBytes, fetched }: ReshardingRecipient, nowMs: number): number | null {
  if (phases.applying > 0 || fetched > 0) return 0
  if (copiedBytes === 0 || received.approxBytes === 0) return null
  const share = (2 * received.approxBytes) / Math.min(copiedBytes, 2 * received.approxBytes)
  return seconds((nowMs - phases.cloning) * (share - 1))
}

function elapsed({ participation, role, nowMs }: Reported): number {
  const side = role === 'Donor' ? participation.donor : participation.recipient
  return seconds(nowMs - (side?.startedAtMs ?? nowMs))
}

function copying({ participation, nowMs }: Reported): number {
  const phases = participation.recipient?.phases
  return phases === undefined || phases.cloning === 0 ? 0 : seconds((phases.applying || nowMs) - phases.cloning)
}

function applying({ participation, nowMs }: Reported): number {
  const phases = participation.recipient?.phases
  return phases === undefined || phases.applying === 0 ? 0 : seconds((phases.done || nowMs) - phases.applying)
}

function criticalSection({ participation: { blockedAtMs }, nowMs }: Reported): number {
  return blockedAtMs === null ? 0 : seconds(nowMs - blockedAtMs)
}

export function donorState({ blockedAtMs, donor }: Participation): string {
  if (blockedAtMs !== null) return 'blocking-writes'
  return donor!.source.isDrained ? 'donating-oplog-entries' : 'donating-initial-data'
}

export function recipientState({ state }: ReshardingRecipient): string {
  return state === 'caught-up' ? 'applying' : state
}

function seconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000))
}
