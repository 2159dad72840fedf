import { emptyDocument } from '@shardlab/bson'
import { decodeSessionsImage, encodeSessionsImage, type NodeHost } from '@shardlab/node'

/** Takes over which statements of retryable writes another member has executed, as it gives them. The caller flushes the node. */
export function importSessions(node: NodeHost, sessions: Uint8Array): void {
  for (const session of decodeSessionsImage(sessions)) {
    // Each in an entry of its own: their images may be large.
    const object = encodeSessionsImage([session])
    node.apply({ op: 'n', ns: 'config.transactions', uuid: null, object, id: null, session: null })
    node.sessions.touch({ key: session.key, document: emptyDocument }, node.context.now())
  }
}
