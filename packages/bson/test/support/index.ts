/** `@shardlab/bson/testing`: what property tests of every package share. For tests only; not shipped. */
export * from './check.js'
