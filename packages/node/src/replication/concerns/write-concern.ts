/** Waiting for the write concern of a command. Server: write_concern.cpp, waitForWriteConcern. */
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { writeConcernErrorDocument } from '@shardlab/member'
import { isImplicitMajority, type WriteConcern } from '@shardlab/replication'
import type { NodeInvocation } from '../../host/node-host.js'
import type { ReplicaSet } from '../replica-set.js'

/** @returns `writeConcernError` of the reply; null: the concern is satisfied */
export async function awaitWriteConcern(
  { host, concerns, operation }: NodeInvocation,
  set: ReplicaSet,
): Promise<Uint8Array | null> {
  const document = concerns.write?.document ?? implicitConcern(set, host.behaviours.implicitDefaultConcerns)
  const timeoutMs = Math.trunc(findField(document, 'wtimeout')?.asNumber() ?? 0)
  const outcome = await set.awaitWriteConcern(set.lastApplied, parsed(document), {
    timeoutMs: timeoutMs > 0 ? timeoutMs : null,
    signal: operation.signal,
  })
  if (outcome === null) return null
  if (outcome !== 'late') return writeConcernErrorDocument(outcome, document, host.behaviours)
  operation.checkForInterrupt()
  const late = new CommandError('WriteConcernTimeout', 'waiting for replication timed out')
  return writeConcernErrorDocument(late, document, host.behaviours, true)
}

function parsed(document: Uint8Array): WriteConcern {
  const w = findField(document, 'w')
  const j = findField(document, 'j') ?? findField(document, 'fsync')
  return {
    w: w === undefined ? 1 : w.isNumber() ? Math.trunc(w.asNumber()) : w.asString(),
    j: j === undefined ? null : j.isTruthy(),
  }
}

/** Of a command that names none, while the administrator has set no default. */
function implicitConcern({ coordinator }: ReplicaSet, sinceImplicitMajority: boolean): Uint8Array {
  const { config } = coordinator.state
  const isMajority = sinceImplicitMajority && config !== null && isImplicitMajority(config)
  const writer = new DocumentWriter(64)
  if (isMajority) writer.string('w', 'majority')
  else writer.int32('w', 1)
  return writer.int32('wtimeout', 0).string('provenance', 'implicitDefault').finish()
}
