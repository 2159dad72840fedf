import type { MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'

/** An actor in the same thread, called without packing. */
export interface GatewayTarget {
  request<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K>
}
