import type { MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'

/** Requests that a shard answers, commands of clients apart. */
export type ShardKind = Extract<MessageKind, `shard.${string}`>

/**
 * One handler per kind, over the parts of the shard that it uses. A CommandError that it throws
 * becomes the reply's `error`.
 */
export type ShardHandlers<K extends ShardKind, Host> = {
  readonly [Kind in K]: (host: Host, request: RequestOf<Kind>) => Promise<ReplyOf<Kind>> | ReplyOf<Kind>
}
