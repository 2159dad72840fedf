/** Server: cluster_find.cpp, establish_cursors.cpp. */
import { CommandError, DocumentWriter, isEmptyDocument, sameBytes } from '@shardlab/bson'
import { defaultFirstBatch, mergedBatchBytesMax, type TailableMode } from '@shardlab/member'
import { isStaleCode, replyError } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'
import { scatter, type MemberAnswer } from '../routing/scatter.js'
import { apiParameters } from '../cursors/cluster-cursor-manager.js'
import { fills, MergedCursor, SingleMemberCursor } from '../cursors/cluster-cursor.js'
import type { ClusterCursor, MongosInvocation, OpenCursorOptions } from '../host/mongos-host.js'
import { readCursorReply, writeCursorReply } from '../cursors/cursor-reply.js'
import type { DocumentStream } from '../cursors/document-stream.js'
import { BufferedCursor, RemoteCursor } from '../cursors/remote-cursor.js'

export interface CursorTraits {
  readonly noTimeout: boolean
  /** Undefined: not in the client's command. */
  readonly batchSize: number | undefined
  /** Default `no`. */
  readonly tailable?: TailableMode
  /**
   * Whether a full first batch keeps the cursor open even if the shard has no more documents, as
   * find does. Default false.
   */
  readonly opensWhenFull?: boolean
  /**
   * Whether the documents can be read only once, so the command must not be repeated. Default
   * false.
   */
  readonly sentOnce?: boolean
}

/**
 * The member's batch goes to the client unchanged.
 * @param opened called when the member has replied with a cursor
 * @throws CommandError of the member or of the request to it
 */
export function openOnOne(
  invocation: MongosInvocation,
  member: string,
  command: RemoteCommand,
  traits: CursorTraits,
  opened?: () => void,
): Promise<DocumentWriter> {
  return invocation.host.remote.commandFor(
    member,
    command,
    invocation.operation,
    traits.sentOnce !== true,
    ({ body }, receiver) => {
      const writer = openedOnOne(invocation, { shard: member, receiver }, command, traits, body)
      opened?.()
      return writer
    },
  )
}

function openedOnOne(
  invocation: MongosInvocation,
  { shard, receiver }: { readonly shard: string; readonly receiver: string },
  command: RemoteCommand,
  traits: CursorTraits,
  body: Uint8Array,
): DocumentWriter {
  const { host } = invocation
  const error = replyError(body)
  if (error !== null) throw error
  const reply = readCursorReply(body, 'firstBatch')
  const staysOpen =
    reply.id !== 0n ||
    (traits.opensWhenFull === true &&
      (traits.batchSize === 0 || fills(reply.batch, traits.batchSize ?? defaultFirstBatch)))
  const ns = invocation.cursorNs ?? reply.ns
  if (!staysOpen) return writeCursorReply(body, reply, 0n, ns)
  const cursor = new SingleMemberCursor(
    new RemoteCursor({ shard, receiver, db: command.db, ns: reply.ns, id: reply.id }),
    ns,
  )
  return writeCursorReply(body, reply, host.cursors.open(openOptions(invocation, cursor, traits)), ns)
}

export interface EstablishedCursors {
  readonly remotes: readonly BufferedCursor[]
  readonly partial: boolean
}

/**
 * Opens a cursor on every shard, or on none.
 * @param mayOmit default: no failed shard may be left out
 * @param omitsExhausted whether exhausted cursors without documents are left out; default: no
 * @throws CommandError the first error, a stale one before others
 */
export async function establishCursors(
  invocation: MongosInvocation,
  shards: readonly string[],
  commandFor: (shard: string) => RemoteCommand,
  mayOmit: (answer: MemberAnswer) => boolean = () => false,
  omitsExhausted = false,
): Promise<EstablishedCursors> {
  const answers = await scatter(invocation, shards, commandFor, true, mergedBatchBytesMax)
  const failure = worstFailure(answers, mayOmit)
  const remotes: BufferedCursor[] = []
  let answered = 0
  let exhausted: Uint8Array | null = null
  for (const answer of answers) {
    if (answer.error !== null) continue
    answered++
    // Most shards of a broadcast have no match and send the same bytes, so one comparison suffices.
    if (exhausted !== null && sameBytes(answer.body, exhausted)) continue
    const reply = readCursorReply(answer.body, 'firstBatch')
    if (omitsExhausted && reply.id === 0n && isEmptyDocument(reply.batch.bytes, reply.batch.start)) {
      exhausted = answer.body
      continue
    }
    remotes.push(
      new BufferedCursor(
        new RemoteCursor({
          shard: answer.member,
          receiver: answer.receiver,
          db: invocation.db,
          ns: reply.ns,
          id: reply.id,
        }),
        reply.batch,
      ),
    )
  }
  if (failure !== null) {
    for (const remote of remotes) remote.cursor.kill(invocation.host)
    throw failure
  }
  return { remotes, partial: answered < shards.length }
}

export async function openMerged(
  invocation: MongosInvocation,
  collectionNs: string,
  stream: DocumentStream,
  options: CursorTraits & { readonly singleBatch: boolean },
): Promise<DocumentWriter> {
  const { host } = invocation
  const ns = invocation.cursorNs ?? collectionNs
  const cursor = new MergedCursor(ns, stream)
  const writer = new DocumentWriter(4096).startDocument('cursor')
  try {
    await cursor.writeFirstBatch(writer, invocation, options.batchSize)
  } catch (error) {
    cursor.kill(host)
    throw error
  }
  let id = 0n
  if (cursor.exhausted || options.singleBatch) cursor.kill(host)
  else id = host.cursors.open(openOptions(invocation, cursor, options))
  return cursor.writePartial(writer, invocation).int64('id', id).string('ns', ns).end()
}

export function openOptions(
  { args, session, operation, concerns }: MongosInvocation,
  cursor: ClusterCursor,
  traits: CursorTraits,
): OpenCursorOptions {
  return {
    cursor,
    session,
    operation,
    api: apiParameters(args),
    noTimeout: traits.noTimeout,
    tailable: traits.tailable ?? 'no',
    atClusterTime: concerns.read.atClusterTime,
  }
}

function worstFailure(
  answers: readonly MemberAnswer[],
  mayOmit: (answer: MemberAnswer) => boolean,
): CommandError | null {
  let first: CommandError | null = null
  for (const answer of answers) {
    if (answer.error === null || mayOmit(answer)) continue
    if (isStaleCode(answer.error.code)) return answer.error
    first ??= answer.error
  }
  return first
}
