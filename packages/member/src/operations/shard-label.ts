/**
 * The name that a shard puts before operation ids for a router; null: a client asked the member
 * directly.
 */
export type ShardLabel = string | null
