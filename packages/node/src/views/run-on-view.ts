/** Reads of views on a node. Server: what the read commands of mongod do with a view. */
import { CommandArguments } from '@shardlab/actor'
import { refuseUuidOfView, commandOnView, resolvedViewError, type ResolvedView } from '@shardlab/member'
import { resolveView } from './resolve-view.js'
import { viewOf } from './view-catalog.js'
import type { NodeInvocation } from '../host/node-host.js'

/**
 * The view that a read names, resolved; null when it is a collection or nothing.
 * @throws CommandError 361 CollectionUUIDMismatch, 169 CommandOnShardedViewNotSupportedOnMongod with `resolvedView` for a router: it resolves views by itself, for the
 *   collection below may be sharded
 */
export function viewFor({ host, routed, body }: NodeInvocation, ns: string): ResolvedView | null {
  if (host.collection(ns) !== undefined) return null
  const view = viewOf(host, ns)
  if (view === null) return null
  refuseUuidOfView(ns, body)
  const resolved = resolveView(host, view)
  if (routed !== null) throw resolvedViewError(resolved)
  return resolved
}

/** The same command as an aggregate on the collection below; its cursor keeps the name of the view. */
export function invocationOnView(invocation: NodeInvocation, ns: string, view: ResolvedView): NodeInvocation {
  const body = commandOnView(invocation.body, view)
  return { ...invocation, body, args: CommandArguments.parse(body, null), sequences: [], cursorNs: ns }
}
