import { CommandArguments } from '@shardlab/actor'
import { refuseUuidOfView, commandOnView, resolvedViewError, type ResolvedView } from '@shardlab/member'
import { resolveView } from './resolve-view.js'
import { viewOf } from './view-catalog.js'
import type { NodeInvocation } from '../host/node-host.js'

/**
 * null: a collection or an unused name
 * @throws CommandError 361 CollectionUUIDMismatch; 169 CommandOnShardedViewNotSupportedOnMongod
 *   with `resolvedView` for a router, which runs the resolved command itself, because the
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

/** The cursor reports the name of the view. */
export function invocationOnView(invocation: NodeInvocation, ns: string, view: ResolvedView): NodeInvocation {
  const body = commandOnView(invocation.body, view)
  return { ...invocation, body, args: CommandArguments.parse(body, null), sequences: [], cursorNs: ns }
}
