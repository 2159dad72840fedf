/** `@shardlab/bson/testing`: helpers for property tests of every package. Not shipped. */
export * from './check.js'
