import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, type CommandError } from '@shardlab/bson'
import { equalityValues } from '@shardlab/query'
import { notCappedError, type Collection } from '@shardlab/storage'
import {
  evaluationOf,
  withTimeLimit,
  compileFind,
  findSpec,
  type FindQuery,
  emptySource,
  withExecutorContext,
  nonNegative,
  defaultFirstBatch,
  type TailableMode,
} from '@shardlab/member'
import { checkCollectionUuid } from '../ddl/collection-uuid.js'
import { sourceById } from '../read/read-by-id.js'
import { catchUpKeys } from '../read/catch-up-keys.js'
import { newSlice } from '../read/new-slice.js'
import { planFind } from '../read/read-plan.js'
import { PlanSource } from '../read/read-source.js'
import { TailSource } from '../read/read-tail.js'
import { checkTableScan } from '../read/table-scan.js'
import type { CursorSource } from '../cursors/cursor-manager.js'
import { writeFirstBatch } from '../cursors/cursor-reply.js'
import type { Access, NodeHost, NodeInvocation } from '../host/node-host.js'

export const find: CommandRow<NodeInvocation> = {
  ...findSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D109', 'D301', 'D303', 'D404', 'D501', 'D502', 'D505', 'D606', 'D613'],
  summary: 'Selects documents and opens a cursor on them.',
  run(invocation) {
    const { host, args, db, retryable } = invocation
    const ns = args.namespace(db)
    if (retryable !== null && host.retries.hasExecuted(retryable.session.key, retryable.txnNumber, retryable.stmtId(0)))
      return executedStatement(ns)
    const entered = host.role.enter(ns, invocation)
    return entered instanceof Promise
      ? entered.then((access) => findIn(invocation, ns, access))
      : findIn(invocation, ns, entered)
  },
}

/**
 * A router searches for the document of a retryable write that this member has executed. Server:
 * run_aggregate.cpp, $_wasStatementExecuted.
 */
function executedStatement(ns: string): DocumentWriter {
  const writer = new DocumentWriter(128).startDocument('cursor').startArray('firstBatch').end()
  return writer.bool('$_wasStatementExecuted', true).int64('id', 0n).string('ns', ns).end()
}

function findIn(invocation: NodeInvocation, ns: string, access: Access): DocumentWriter | Promise<DocumentWriter> {
  const { host, args } = invocation
  checkCollectionUuid(host, ns, args)
  if (invocation.isRepeated !== true) host.opcounters.query++
  return readIn(invocation, ns, access)
}

function readIn(invocation: NodeInvocation, ns: string, access: Access): DocumentWriter | Promise<DocumentWriter> {
  const { host, args } = invocation
  const batchSize = nonNegative(args, 'batchSize') ?? defaultFirstBatch
  const live = host.readable(ns)
  const byId = live === undefined || batchSize === 0 ? null : sourceById(invocation, live, access.ownership)
  const waiting = byId === null ? catchUpKeys(host, invocation.operation, live) : null
  if (waiting !== null) return readAfter(waiting, invocation, ns)
  const { source, tailable } =
    byId === null ? openFind(invocation, live, access, batchSize) : { source: byId, tailable: 'no' as const }
  try {
    const reply = writeFirstBatch(invocation, ns, source, {
      batchSize,
      singleBatch: args.bool('singleBatch') ?? false,
      noTimeout: args.bool('noCursorTimeout') ?? false,
      // A tailable cursor on an empty collection has no position to resume from, so none stays
      // open.
      tailable: (live?.count ?? 0) === 0 ? 'no' : tailable,
    })
    return reply instanceof Promise ? namingErrors(reply, host, ns) : reply
  } catch (error) {
    throw executorError(error, host, ns)
  }
}

async function readAfter(waiting: Promise<void>, invocation: NodeInvocation, ns: string): Promise<DocumentWriter> {
  await waiting
  const entered = invocation.host.role.enter(ns, invocation)
  return readIn(invocation, ns, entered instanceof Promise ? await entered : entered)
}

// Separate: a function that may make a closure allocates a context for its variables on each call.
function namingErrors(reply: Promise<DocumentWriter>, host: NodeHost, ns: string): Promise<DocumentWriter> {
  return reply.catch((error: unknown) => {
    throw executorError(error, host, ns)
  })
}

function executorError(error: unknown, { behaviours }: NodeHost, ns: string): unknown {
  return withExecutorContext(
    error,
    behaviours,
    `Executor error during find command${behaviours.executorErrorsNameCollection ? `: ${ns}` : ''}`,
  )
}

function tailableError(collection: Collection, { filter, sort, shape, skip, limit }: FindQuery): CommandError {
  const document = shape.projectionDocument
  return notCappedError(collection, {
    filter,
    skip,
    limit,
    ...(sort === null ? {} : { sort }),
    ...(document === null ? {} : { projection: { document, apply: (row) => row } }),
  })
}

interface OpenedFind {
  readonly source: CursorSource
  readonly tailable: TailableMode
}

function openFind(
  invocation: NodeInvocation,
  live: Collection | undefined,
  { ownership }: Access,
  batchSize: number,
): OpenedFind {
  const { host, args, operation } = invocation
  const query = compileFind(args, withTimeLimit(evaluationOf(host, args, live?.defaultCollation ?? null), operation))
  return { source: plannedSource(invocation, live, ownership, query, batchSize), tailable: query.tailable }
}

function plannedSource(
  { host, querySettings }: NodeInvocation,
  live: Collection | undefined,
  ownership: Access['ownership'],
  query: FindQuery,
  batchSize: number,
): CursorSource {
  if (live === undefined) return emptySource
  if (query.tailable !== 'no') {
    if (live.capped === null) throw tailableError(live, query)
    return new TailSource({ host, collection: live, query, ownership })
  }
  // One document always fits in the first batch, so the live collection is enough. A cursor that
  // stays open needs a snapshot.
  const isOne = query.limit === 1 || (live.indexes().length > 0 && equalityValues(query.filter.root, ['_id']) !== null)
  const fitsFirstBatch = batchSize > 0 && isOne
  const plan = planFind(fitsFirstBatch ? live : live.snapshot(), query, ownership, querySettings)
  checkTableScan(host, plan, query.hint.hint)
  return new PlanSource(plan, {
    slice: newSlice(host),
    execute: { allowDiskUse: query.allowDiskUse ?? host.behaviours.sortsUseDiskByDefault },
    apply: query.shape.apply,
    effort: host.statistics.queries,
    host,
    ...(fitsFirstBatch ? { rowsMax: 1 } : {}),
  })
}
