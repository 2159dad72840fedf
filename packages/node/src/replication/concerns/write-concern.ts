/** Waiting for the write concern of a command. Server: write_concern.cpp, waitForWriteConcern. */
import { CommandError, DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import { completeWriteConcern, writeConcernErrorDocument } from '@shardlab/member'
import { isImplicitMajority, type WriteConcern } from '@shardlab/replication'
import type { NodeHost, NodeInvocation } from '../../host/node-host.js'

type Waiting = Promise<Uint8Array | null>

/**
 * @returns resolves with `writeConcernError` of the reply; null, or a promise of it: the concern is
 *   satisfied
 */
export function awaitWriteConcern({ host, concerns, operation }: NodeInvocation): Waiting | null {
  const { set } = host
  const { write } = concerns
  // What the only member has written is on a majority.
  if (set.isAlone && (write === null || write.w === 'majority' || write.w === 1) && set.isWritablePrimary) return null
  return write === null
    ? awaitConcern(host, operation, implicitConcern(host))
    : awaitConcern(host, operation, { w: write.w, document: write.document })
}

interface NamedConcern {
  readonly w: WriteConcern['w']
  readonly document: Uint8Array
}

async function awaitConcern(
  { set, behaviours }: NodeHost,
  operation: NodeInvocation['operation'],
  { w, document }: NamedConcern,
): Waiting {
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
  if (outcome !== 'late') return writeConcernErrorDocument(outcome, document, behaviours)
  operation.checkForInterrupt()
  const late = new CommandError('WriteConcernTimeout', 'waiting for replication timed out')
  return writeConcernErrorDocument(late, document, behaviours, true)
}

function journalOf(document: Uint8Array): WriteConcern['j'] {
  const j = findField(document, 'j') ?? findField(document, 'fsync')
  return j === undefined ? null : j.isTruthy()
}

/** Of a command that names none, while the administrator has set no default. */
function implicitConcern({ set, behaviours }: NodeHost): NamedConcern {
  const { config } = set.coordinator.state
  const isMajority = behaviours.implicitMajorityWriteConcern && config !== null && isImplicitMajority(config)
  const writer = new DocumentWriter(64)
  if (isMajority) writer.string('w', 'majority')
  else writer.int32('w', 1)
  const document = writer.int32('wtimeout', 0).string('provenance', 'implicitDefault').finish()
  return { w: isMajority ? 'majority' : 1, document }
}

/**
 * `{ w, j?, fsync?, wtimeout, provenance? }` of the command, or the implicit one. Empty: the
 * command names none, and the version has no implicit one.
 */
export function reportedConcern({ host, concerns }: Pick<NodeInvocation, 'host' | 'concerns'>): Uint8Array {
  const { behaviours } = host
  const { write } = concerns
  if (write === null) return behaviours.implicitMajorityWriteConcern ? implicitConcern(host).document : emptyDocument
  const complete = completeWriteConcern(write.document)
  if (!behaviours.writeConcernsHaveProvenance) return complete
  const provenance = findField(write.document, 'provenance')?.asString() ?? 'clientSupplied'
  return new DocumentWriter(complete.length + 48).fields(complete).string('provenance', provenance).finish()
}
