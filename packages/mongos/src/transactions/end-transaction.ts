/** The commit paths of a router. Server: transaction_router.cpp, _commitTransaction. */
import { unversioned, type Address, type NodeReply } from '@shardlab/actor'
import { CommandError, DocumentWriter, ErrorCodes, findField } from '@shardlab/bson'
import type { Operation } from '../dispatch/operation.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields, replyError, replyWriterFor } from '../remote/command-reply.js'
import type { RouterTransaction } from './router-transaction.js'
import type { CommitType } from './router-transaction-statistics.js'
import { hasAborted } from './router-transactions.js'

/**
 * @returns the reply of the shard that has decided
 * @throws CommandError 251 NoSuchTransaction, 50940, those of the shards
 */
export async function commit(invocation: MongosInvocation, transaction: RouterTransaction): Promise<DocumentWriter> {
  const { host } = invocation
  const { statistics } = host.transactions
  if (transaction.outcome === 'aborted') throw hasAborted(transaction)
  const type = commitTypeOf(transaction)
  if (transaction.participants.some(({ hasFailed }) => hasFailed)) {
    await abortOn(invocation, transaction, shardsOf(transaction))
    transaction.outcome = 'aborted'
    throw hasAborted(transaction)
  }
  const isFirst = transaction.outcome === 'open'
  transaction.outcome = 'committing'
  const beganAtMs = host.context.now()
  if (isFirst) {
    transaction.commit = { type, beganAtMs }
    statistics.commitBegins(type)
    statistics.participantsAtCommit += transaction.participants.length
  }
  const reply = await commitAs(type, isFirst, invocation, transaction)
  if (isFirst) statistics.commitSucceeds(type, host.context.now() - beganAtMs)
  return reply
}

function commitTypeOf({ isKnown, participants }: RouterTransaction): CommitType {
  if (!isKnown) return 'recoverWithToken'
  if (participants.length === 0) return 'noShards'
  if (participants.length === 1) return 'singleShard'
  const writers = participants.filter(({ isReadOnly }) => isReadOnly === false).length
  if (writers === 0) return 'readOnly'
  return writers === 1 ? 'singleWriteShard' : 'twoPhaseCommit'
}

async function commitAs(
  type: CommitType,
  isFirst: boolean,
  invocation: MongosInvocation,
  transaction: RouterTransaction,
): Promise<DocumentWriter> {
  const { participants } = transaction
  switch (type) {
    case 'noShards':
      return new DocumentWriter(256)
    case 'singleShard':
      return only(await commitOn(invocation, transaction, [participants[0]!.shard]))
    case 'readOnly':
      return only(await commitOn(invocation, transaction, shardsOf(transaction)))
    case 'singleWriteShard': {
      const readers = participants.filter(({ isReadOnly }) => isReadOnly !== false)
      const writer = participants.find(({ isReadOnly }) => isReadOnly === false)!
      // A repetition asks the writer for the outcome: readers keep no record of their commit.
      if (!isFirst) return only([await coordinate(invocation, transaction, writer.shard, [])])
      // A reader that has lost its snapshot fails the commit while nothing is committed.
      const failure = await commitOn(
        invocation,
        transaction,
        readers.map(({ shard }) => shard),
      )
      checkWriteConcern(failure)
      return only(await commitOn(invocation, transaction, [writer.shard]))
    }
    case 'twoPhaseCommit':
      if (invocation.host.context.mutated('prepareOff'))
        return only(await commitOn(invocation, transaction, shardsOf(transaction)))
      return only([await coordinate(invocation, transaction, transaction.coordinator!.shard, shardsOf(transaction))])
    case 'recoverWithToken':
      return recover(invocation, transaction)
  }
}

/** @throws CommandError 50940 without a token, 251 with that of a transaction without writes */
async function recover(invocation: MongosInvocation, transaction: RouterTransaction): Promise<DocumentWriter> {
  const token = invocation.args.document('recoveryToken')
  if (token === undefined)
    throw new CommandError(50_940, 'cannot recover the transaction decision without a recoveryToken')
  const shard = findField(token, 'recoveryShardId')?.asString()
  if (shard === undefined)
    throw new CommandError(
      'NoSuchTransaction',
      'Recovery token is empty, meaning the transaction only performed reads and can be safely retried',
    )
  return only([await coordinate(invocation, transaction, shard, [])])
}

/** @param participants none: the shard finds out how the transaction has ended */
function coordinate(
  invocation: MongosInvocation,
  transaction: RouterTransaction,
  coordinator: Address,
  participants: readonly Address[],
): Promise<NodeReply> {
  const writer = new DocumentWriter(256).int32('coordinateCommitTransaction', 1).startArray('participants')
  participants.forEach((shard, i) => writer.startDocument(String(i)).string('shardId', shard).end())
  return send(invocation, coordinator, withFields(writer.end(), invocation, transaction))
}

function commitOn(
  invocation: MongosInvocation,
  transaction: RouterTransaction,
  shards: readonly Address[],
): Promise<NodeReply[]> {
  const body = withFields(new DocumentWriter(256).int32('commitTransaction', 1), invocation, transaction)
  return invocation.host.context.all(shards.map((shard) => send(invocation, shard, body)))
}

/** @param operation that a client can kill; null: shards abort whatever happens to the operation */
function sendAborts(
  invocation: MongosInvocation,
  transaction: RouterTransaction,
  shards: readonly Address[],
  operation: Operation | null,
): Promise<NodeReply>[] {
  const body = withFields(new DocumentWriter(256).int32('abortTransaction', 1), invocation, transaction)
  return shards.map((shard) => invocation.host.remote.command(shard, unversioned('admin', body), operation, true))
}

/** Errors of the shards do not matter: they abort by themselves. */
export async function abortOn(
  invocation: MongosInvocation,
  transaction: RouterTransaction,
  shards: readonly Address[],
): Promise<void> {
  const ignored = (error: unknown): void => {
    if (!(error instanceof CommandError)) throw error
  }
  const replies = sendAborts(invocation, transaction, shards, null)
  await invocation.host.context.all(replies.map((reply) => reply.catch(ignored)))
}

/** @throws CommandError a shard may not have aborted, so it cannot begin the transaction again */
export async function abortToRestart(
  invocation: MongosInvocation,
  transaction: RouterTransaction,
  shards: readonly Address[],
): Promise<void> {
  const replies = sendAborts(invocation, transaction, shards, null)
  for (const reply of await invocation.host.context.all(replies)) {
    const error = replyError(reply.body)
    if (error !== null && error.code !== ErrorCodes.NoSuchTransaction) throw error
  }
}

/**
 * @returns the reply of the client's abortTransaction
 * @throws CommandError 251: no shard takes part; the first error of a shard
 */
export async function abort(invocation: MongosInvocation, transaction: RouterTransaction): Promise<DocumentWriter> {
  const { participants } = transaction
  if (transaction.outcome === 'aborted') throw hasAborted(transaction)
  if (participants.length === 0)
    throw new CommandError('NoSuchTransaction', 'no known command has been sent by this router for this transaction')
  if (transaction.outcome === 'open') invocation.host.transactions.statistics.abortedBecause('abort')
  transaction.outcome = 'aborted'
  const replies = sendAborts(invocation, transaction, shardsOf(transaction), invocation.operation)
  return only(await invocation.host.context.all(replies))
}

/** After a statement has failed. Nothing happens once the commit has begun. */
export async function abortImplicitly(
  invocation: MongosInvocation,
  transaction: RouterTransaction,
  cause: number,
): Promise<void> {
  if (transaction.outcome !== 'open') return
  transaction.outcome = 'aborted'
  invocation.host.transactions.statistics.abortedBecause(cause)
  await abortOn(invocation, transaction, shardsOf(transaction))
}

export function shardsOf({ participants }: RouterTransaction): Address[] {
  return participants.map(({ shard }) => shard)
}

function withFields(writer: DocumentWriter, { args }: MongosInvocation, transaction: RouterTransaction): Uint8Array {
  const ends = args.command === 'commitTransaction' || args.command === 'abortTransaction'
  const concern = ends || transaction.isInternal ? args.document('writeConcern') : undefined
  if (concern !== undefined) writer.document('writeConcern', concern)
  return transaction.writeFields(writer).string('$db', 'admin').finish()
}

function send({ host, operation }: MongosInvocation, shard: Address, body: Uint8Array): Promise<NodeReply> {
  return host.remote.command(shard, unversioned('admin', body), operation, true)
}

/** The reply of all: the first error, else one with an error of the write concern. */
function only(replies: readonly NodeReply[]): DocumentWriter {
  for (const { body } of replies) {
    const error = replyError(body)
    if (error !== null) throw error
  }
  const { body } = replies.find((reply) => findField(reply.body, 'writeConcernError') !== undefined) ?? replies[0]!
  return copyReplyFields(replyWriterFor(body), body)
}

/** @throws CommandError the first error, also of a write concern */
function checkWriteConcern(replies: readonly NodeReply[]): void {
  only(replies)
  for (const { body } of replies) {
    const concern = findField(body, 'writeConcernError')?.slice()
    if (concern === undefined) continue
    throw new CommandError(findField(concern, 'code')!.asNumber(), findField(concern, 'errmsg')!.asString())
  }
}
