/** How a shard labels what it gives to a router: its name goes in front of ids. Null: the member was asked directly. */
export type ShardLabel = string | null
