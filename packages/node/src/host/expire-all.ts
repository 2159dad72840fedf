import { sessionTimeoutMinutes } from '@shardlab/member'
import { removeExpiredPreImages } from '../change-streams/pre-images.js'
import type { NodeHost } from './node-host.js'

/** Removes cursors, sessions, retryable writes and histories whose time is over. */
export function expireAll(node: NodeHost): void {
  const { cursors, parameters, retries, sessions, snapshots } = node
  const now = node.context.now()
  cursors.expire(now, parameters.number('cursorTimeoutMillis'))
  sessions.expire(now)
  retries.expire(now - sessionTimeoutMinutes * 60_000, (key) => sessions.has(key))
  snapshots.expire()
  removeExpiredPreImages(node)
}
