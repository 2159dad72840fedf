/** Waiting for the write concern of a command. Server: write_concern.cpp, waitForWriteConcern. */
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { unsatisfied, writeConcernErrorDocument } from '@shardlab/member'
import { isImplicitMajority, type WriteConcern } from '@shardlab/replication'
import type { NodeInvocation } from '../../host/node-host.js'
import type { ReplicaSet } from '../replica-set.js'

/** @returns `writeConcernError` of the reply; null: the concern is satisfied */
export async function awaitWriteConcern(
  { host, concerns, operation }: NodeInvocation,
  set: ReplicaSet,
): Promise<Uint8Array | null> {
  const document = concerns.write?.document ?? implicitConcern(set, host.behaviours.implicitDefaultConcerns)
  const w = concerns.write === null ? implicitMembers(document) : concerns.write.w
  // Tags with counts are not compared with the members.
  if (w === null) return writeConcernErrorDocument(unsatisfied(w)!, document, host.behaviours)
  const timeoutMs = Math.trunc(findField(document, 'wtimeout')?.asNumber() ?? 0)
  const outcome = await set.awaitWriteConcern(
    set.lastApplied,
    { w, j: journalOf(document) },
    {
      timeoutMs: timeoutMs > 0 ? timeoutMs : null,
      signal: operation.signal,
    },
  )
  if (outcome === null) return null
  if (outcome !== 'late') return writeConcernErrorDocument(outcome, document, host.behaviours)
  operation.checkForInterrupt()
  const late = new CommandError('WriteConcernTimeout', 'waiting for replication timed out')
  return writeConcernErrorDocument(late, document, host.behaviours, true)
}

function journalOf(document: Uint8Array): WriteConcern['j'] {
  const j = findField(document, 'j') ?? findField(document, 'fsync')
  return j === undefined ? null : j.isTruthy()
}

function implicitMembers(document: Uint8Array): number | string {
  const w = findField(document, 'w')!
  return w.isNumber() ? w.asNumber() : w.asString()
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
