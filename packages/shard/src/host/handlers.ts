import type { MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'

export type ShardKind = Extract<MessageKind, `shard.${string}`>

/** A CommandError that a handler throws becomes the reply's `error`. */
export type ShardHandlers<K extends ShardKind, Host> = {
  readonly [Kind in K]: (host: Host, request: RequestOf<Kind>) => Promise<ReplyOf<Kind>> | ReplyOf<Kind>
}
