export { createShard, type ShardOptions } from './shard.js'
export { shardRows } from './shard-rows.js'
