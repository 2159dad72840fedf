import { balancerExchanges } from './balancer.js'
import { commandExchanges } from './commands.js'
import { configExchanges } from './config.js'
import type { Exchange } from './exchange.js'
import { shardExchanges } from './shard.js'

export * from './balancer.js'
export * from './config.js'
export type { Empty, ErrorField, Exchange, TimestampPair } from './exchange.js'
export { exchange } from './exchange.js'
export * from './shard.js'
export * from './commands.js'

/** Every message kind between members. Faults filter by these names. */
export const catalogue = { ...commandExchanges, ...configExchanges, ...shardExchanges, ...balancerExchanges }

export type Catalogue = typeof catalogue
export type MessageKind = keyof Catalogue
export type RequestOf<K extends MessageKind> = Catalogue[K] extends Exchange<infer Q, infer _> ? Q : never
export type ReplyOf<K extends MessageKind> = Catalogue[K] extends Exchange<infer _, infer R> ? R : never
