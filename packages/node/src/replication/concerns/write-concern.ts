/** Waiting for the write concern of a command. Server: write_concern.cpp, waitForWriteConcern. */
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { writeConcernErrorDocument } from '@shardlab/member'
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

const implicitOne = implicit(1)
const implicitMajority = implicit('majority')

function implicit(w: 1 | 'majority'): NamedConcern {
  const writer = new DocumentWriter(64)
  if (w === 1) writer.int32('w', w)
  else writer.string('w', w)
  return { w, document: writer.int32('wtimeout', 0).string('provenance', 'implicitDefault').finish() }
}

/** Of a command that names none, while the administrator has set no default. */
function implicitConcern({ set, behaviours }: NodeHost): NamedConcern {
  const { config } = set.coordinator.state
  const isMajority = behaviours.implicitMajorityWriteConcern && config !== null && isImplicitMajority(config)
  return isMajority ? implicitMajority : implicitOne
}

/**
 * The write concern of the command as it was sent, or the implicit one. Null: the command names
 * none, and the version has no implicit one.
 */
export function concernOf({ host, concerns }: Pick<NodeInvocation, 'host' | 'concerns'>): Uint8Array | null {
  if (concerns.write !== null) return concerns.write.document
  return host.behaviours.implicitMajorityWriteConcern ? implicitConcern(host).document : null
}
