import type { NodeHost } from '@shardlab/node'

/**
 * Waits until a majority has the writes whose records are sent: with the record of a write that is
 * rolled back, the recipient would ignore its repetition. Server: getNextSessionMods in
 * migration_chunk_cloner_source.cpp; a resharding reads the oplog with read concern majority.
 */
export async function withLastingSessions<M extends { readonly sessions: Uint8Array | null }>(
  node: NodeHost,
  mods: M,
): Promise<M> {
  if (mods.sessions !== null) await node.flushToMajority()
  return mods
}
