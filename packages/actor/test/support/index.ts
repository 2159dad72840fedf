/** `@shardlab/actor/testing`: the context and disk of one actor in a test. Not shipped. */
export * from './fake-context.js'
export * from './fake-disk.js'
