/**
 * The primary shard replies to a read of a view with the view's definition, and the read runs again
 * as an aggregate on the underlying collection, wherever that is. Server: cluster_find_cmd.h,
 * cluster_count_cmd.h, cluster_distinct_cmd.cpp, cluster_aggregate.cpp.
 */
import { CommandArguments, type CommandRow } from '@shardlab/actor'
import { DocumentWriter, findField } from '@shardlab/bson'
import { commandOnView, explainBody, resolvedViewOf, viewReply, type ResolvedView } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

type Row = CommandRow<MongosInvocation>

/** An aggregate resolves views itself, because joins can name views, too. */
const readCommands: ReadonlySet<string> = new Set(['find', 'count', 'distinct', 'explain'])

/** @param find the row of another command */
export function runResolvingViews(
  row: Row,
  invocation: MongosInvocation,
  find: (name: string) => Row | undefined,
): Promise<DocumentWriter> | DocumentWriter {
  const running = row.run(invocation)
  if (running instanceof DocumentWriter || !readCommands.has(row.name)) return running
  return running.catch((error: unknown) => {
    const onView = runOnResolved(row, invocation, error, find)
    if (onView === null) throw error
    return onView
  })
}

/** Null: the command failed for another reason than that it names a view. */
export function runOnResolved(
  row: Row,
  invocation: MongosInvocation,
  error: unknown,
  find: (name: string) => Row | undefined,
): Promise<DocumentWriter> | null {
  const view = readCommands.has(row.name) ? resolvedViewOf(error) : null
  return view === null ? null : runOnView(row, invocation, view, find)
}

async function runOnView(
  row: Row,
  invocation: MongosInvocation,
  view: ResolvedView,
  find: (name: string) => Row | undefined,
): Promise<DocumentWriter> {
  if (row.name === 'explain') {
    const ofView = findField(invocation.body, 'explain')!.slice()
    return row.run({ ...invocation, ...explainBody(invocation.body, view), sequences: [], ofView })
  }
  const reply = await find('aggregate')!.run(withBody(invocation, commandOnView(invocation.body, view)))
  return viewReply(row.name, reply)
}

/** The cursor keeps the name that the client sent. */
function withBody(invocation: MongosInvocation, body: Uint8Array): MongosInvocation {
  const cursorNs = `${invocation.db}.${invocation.args.target.asString()}`
  return { ...invocation, body, args: CommandArguments.parse(body, null), sequences: [], cursorNs }
}
