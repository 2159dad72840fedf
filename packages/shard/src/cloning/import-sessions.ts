import { decodeSessionsImage, encodeSessionsImage, type NodeHost } from '@shardlab/node'

/** The caller flushes the node. */
export function importSessions(node: NodeHost, sessions: Uint8Array): void {
  for (const session of decodeSessionsImage(sessions)) {
    // One entry per session: their images may be large.
    const object = encodeSessionsImage([session])
    node.apply({ op: 'n', ns: 'config.transactions', uuid: null, object, id: null, session: null })
  }
}
