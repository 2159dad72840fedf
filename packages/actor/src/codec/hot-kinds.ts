import type { MessageKind } from '../catalogue/index.js'

/**
 * Kinds of which an operation or a document sends some. Their payloads are written and read by
 * hand, and they alone may have attachments. msgpackr packs all others.
 */
export const hotKinds: ReadonlySet<string> = new Set<MessageKind>([
  // Each operation of a client.
  'client.command',
  'client.disconnected',
  'node.command',
  // Refreshes of a router or shard: as many as there are chunks, with attachments in simulations.
  'config.get-chunks',
  'config.get-collection',
  'config.get-database',
  // Each document that changes its shard.
  // Batches of documents.
  'shard.migrate-clone',
  'shard.transfer-mods',
  'shard.receive-documents',
  'shard.resharding-clone',
  'shard.resharding-mods',
  // Each member of a set, every few seconds.
  'replication.heartbeat',
  'replication.fetch',
  'replication.report-positions',
  // Each step of a simulation with measured collections.
  'shard.measure',
  'shard.collection-sizes',
])
