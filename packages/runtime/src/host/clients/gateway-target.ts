import type { MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'

/**
 * Where a listener sends its clients' requests: an actor in the same thread, called without
 * packing.
 */
export interface GatewayTarget {
  request<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K>
}
